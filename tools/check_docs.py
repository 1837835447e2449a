#!/usr/bin/env python3
"""Holds the documents to what is there: links, paths, commands and their options, config keys; and runs the examples.

Usage: check_docs.py   Needs a release build. Prints each fault as file:line: why. Exit 1 if there is one.
Checked in README.md, *.md and docs/: relative links exist; every scripts/…, bench/…, tools/… and `hengshi COMMAND --option`
named is real; docs/config.md lists the keys of `hengshi init`, docs/metrics.md the metrics and docs/ledger.md the reasons of the code, no
more, no less. README's ```sh blocks that call curl and its ```python blocks are run against a server (http://127.0.0.1:8080 in the text
stands for it), whose metrics must be as described.
"""
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import stack

ROOT = stack.ROOT
DEFAULT_URL = "http://127.0.0.1:8080"
faults = []


def fault(path, line, why):
    faults.append(f"{path.relative_to(ROOT)}:{line}: {why}")


def documents():
    told = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in told.stdout.split()]


@functools.cache
def options_of(command):
    """Options of `hengshi COMMAND`, or None when there is no such command."""
    told = subprocess.run([stack.BUILD / "hengshi", *command, "--help"], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    return set(re.findall(r"--[a-z][a-z0-9-]*", told.stdout)) if told.returncode == 0 else None


def check_command(path, number, line):
    for call in re.findall(r"\bhengshi ((?:[a-z]+ ?)+)?([^`|;&#\n]*)", line):
        words = call[0].split()
        while words and options_of(tuple(words)) is None and len(words) > 1:
            words.pop()
        known = options_of(tuple(words))
        if known is None:
            fault(path, number, f"there is no command `hengshi {' '.join(words)}`")
            continue
        for option in re.findall(r"(?<!\S)--[a-z][a-z0-9-]*", call[1]):
            if option not in known:
                fault(path, number, f"`hengshi {' '.join(words)}` has no option {option}")


def check_line(path, number, line, in_shell):
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", re.sub(r"`[^`]*`", "", line)):
        if "://" not in link and not link.startswith("mailto:") and not (path.parent / link).exists():
            fault(path, number, f"the link {link} leads nowhere")
    for named in re.findall(r"(?<![\w/.-])(?:scripts|bench|tools|docs|deploy|packs|src)/[\w./-]*\w", line):
        if not (ROOT / named).exists() and not list(ROOT.glob(named + ".*")):
            fault(path, number, f"there is no {named}")
    commands = [line] if in_shell else re.findall(r"`(hengshi [^`]*)`", line)
    for command in commands:
        check_command(path, number, command)


def blocks(text):
    return re.findall(r"^```(\w*)\n(.*?)^```", text, re.M | re.S)


def check_document(path):
    shell = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("```"):
            shell = line.strip() in ("```sh", "```bash", "```console")
            continue
        check_line(path, number, line, shell)


def config_keys(text):
    """{"server.port", …} of a commented TOML text: keys may be commented out."""
    keys, section = set(), ""
    for line in text.splitlines():
        if m := re.match(r"#? ?\[+(\w+)\]+\s*(?:#.*)?$", line):
            section = m[1]
        elif m := re.match(r"(?:# ){0,2}([a-z][a-z0-9_]*) = ", line):
            keys.add(f"{section}.{m[1]}")
    return keys


def check_config_reference():
    path = ROOT / "docs" / "config.md"
    if not path.exists():
        return fault(path, 1, "is missing")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "hengshi.toml"
        subprocess.run([stack.BUILD / "hengshi", "init", "--config", file], check=True, capture_output=True)
        real = config_keys(file.read_text())
    told = config_keys("\n".join(body for kind, body in blocks(path.read_text()) if kind == "toml"))
    check_names(path, real, told, "key")


def metrics_described():
    """{name: (kind, {label, …})} of the table in docs/metrics.md."""
    rows = re.findall(r"^\| `(hengshi_\w+)` \| (\w+) \| ([^|]+) \|", (ROOT / "docs" / "metrics.md").read_text(), re.M)
    return {name: (kind, set() if labels == "–" else set(labels.split(", "))) for name, kind, labels in rows}


def check_names(path, real, told, what):
    for name in sorted(real - told):
        fault(path, 1, f"the {what} {name} is not described")
    for name in sorted(told - real):
        fault(path, 1, f"there is no {what} {name}")


def sources(*patterns):
    return [file for pattern in patterns for file in sorted((ROOT / "src").glob(pattern)) if "test" not in file.name]


def check_metrics():
    called = r"\b(?:counter|gauge|histogram)\(\s*\"(hengshi_\w+)\""
    real = {name for file in sources("*/*.cc", "*/*.h") for name in re.findall(called, file.read_text())}
    check_names(ROOT / "docs" / "metrics.md", real, set(metrics_described()), "metric")


def check_live_metrics(text):
    """Kind and labels of the metrics that a running server has."""
    path, told = ROOT / "docs" / "metrics.md", metrics_described()
    for name, kind in re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M):
        labels = {label for line in re.findall(rf"^{name}(?:_count)?\{{(.*)\}} ", text, re.M) for label in re.findall(r'(\w+)="', line)}
        if told.get(name) != (kind, labels):
            fault(path, 1, f"the metric {name} is a {kind} with the labels {sorted(labels)}, not {told.get(name)}")


REASONS = {  # where the words of a reason stand in the code, each in the first group
    "local": [("route/route.cc", r'(?:return|local_refused =) "(\w+)"')],
    "semantic": [("text/guards.cc", r'return "(\w+)"'), ("cache/store.cc", r'refused_by = "(\w+)"')],
    "light": [("text/shape.cc", r'return "(\w+)";|\? "(\w+)" : "";'), ("light/*.cc", r'refused_because = "(\w+)"|refused\([^"]*"(\w+)"'),
              ("gateway/tiers.cc", r'threshold >= 1\) return "(\w+)"')],
    "encoder": [("gateway/tiers.cc", r'kDeadline \? "(\w+)" : "(\w+)"')],
    "client": [("gateway/*.cc", r'because\("client", "(\w+)"\)')],
    "UPSTREAM": [("gateway/relay.cc", r'return "(upstream_\w+)"')],
    "TIER": [("gateway/tiers.cc", r'usage\.completion > .*return "(\w+)"|npos\) return "(\w+)"')],
}


def check_reasons():
    path = ROOT / "docs" / "ledger.md"
    real = {f"{step}:{word}" for step, places in REASONS.items() for where, pattern in places for file in sources(where)
            for found in re.finditer(pattern, file.read_text()) for word in found.groups() if word}
    steps = "|".join(REASONS)
    told = set(re.findall(rf"`((?:{steps}):[a-z_]+)`", path.read_text()))
    check_names(path, real, told, "reason")


def run_examples():
    """README's curl and Python examples, against a gateway on the fake upstream."""
    readme = ROOT / "README.md"
    examples = [(kind, body) for kind, body in blocks(readme.read_text())
                if kind == "python" or (kind in ("sh", "bash") and "curl" in body)]
    if len(examples) < 2:
        return fault(readme, 1, "shows no curl or no Python example")
    with tempfile.TemporaryDirectory() as folder, stack.FakeUpstream(folder) as fake:
        config = {"upstream": [{"name": "fake", "base_url": fake.base_url, "model": "fake-model"}],
                  "route": [{"name": "hengshi", "models": ["hengshi"], "upstreams": ["fake"]}]}
        with stack.Gateway(folder, config) as gateway:
            gateway.wait_for_port()
            for kind, body in examples:
                body = body.replace(DEFAULT_URL, f"http://127.0.0.1:{gateway.port}").replace(
                    "http://localhost:8080", f"http://127.0.0.1:{gateway.port}")
                argv = [sys.executable, "-c", body] if kind == "python" else ["bash", "-ec", body.replace("curl ", "curl --fail-with-body ")]
                told = subprocess.run(argv, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, cwd=ROOT,
                                      env={**os.environ, "OPENAI_API_KEY": "none"})
                if told.returncode != 0:
                    fault(readme, 1, f"an example fails: {(told.stderr + told.stdout)[-400:]}\n{body}")
            check_live_metrics(gateway.request("GET", "/metrics")[2].decode())
    return None


def main():
    paths = documents()
    for path in paths:
        check_document(path)
    check_config_reference()
    check_metrics()
    check_reasons()
    if (ROOT / "README.md").exists():
        run_examples()
    else:
        fault(ROOT / "README.md", 1, "is missing")
    print("\n".join(faults) or f"{len(paths)} documents, no fault")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
