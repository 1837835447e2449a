"""Starts hengshi on the demo pack, asks packs/demo/demo.jsonl through the official OpenAI Python SDK and prints what answered.

Run by scripts/demo, which builds first.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unicodedata

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import openai  # noqa: E402
import stack  # noqa: E402

COLUMNS = (("question", 40), ("path", 14), ("conf.", 5), ("ms", 8), ("cost µ$", 7), ("answer", 56))
EVERY_TIER = {"cache.exact", "cache.semantic", "rule", "light", "cloud"}


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def fit(text, columns, right=False):
    text = text.replace("\n", " ")
    if width(text) > columns:
        while width(text) > columns - 1:
            text = text[:-1]
        text += "…"
    space = " " * (columns - width(text))
    return space + text if right else text + space


def print_row(cells):
    right = (False, False, True, True, True, False)
    print("  ".join(fit(cell, columns, r) for cell, (_, columns), r in zip(cells, COLUMNS, right)).rstrip(), flush=True)


def config(folder, cloud):
    return {
        "models": {"zh": stack.MODELS / "bge-small-zh-v1.5", "en": stack.MODELS / "all-minilm-l6-v2"},
        "light": {language: stack.ARTIFACTS / language for language in ("zh", "en")},
        "rules": {"file": stack.PACK / "rules.toml"},
        "cache": {"directory": folder / "cache"},
        "ledger": {"path": folder / "ledger.db"},
        "key": [{"name": "demo", "tenant": "demo", "sha256": stack.sha256_of(stack.KEY)}],
        "upstream": [{"name": "cloud", "input_price": 0.15, "output_price": 0.6, **cloud}],
        # One tenant-wide cache: these are frequent questions whose answers are the same for everyone.
        "route": [{"name": "faq", "models": ["hengshi"], "upstreams": ["cloud"], "scope": "tenant", "first_answer": "5s"}],
    }


def ask_whole(client, request):
    answer = client.chat.completions.create(**request)
    return answer.choices[0].message.content, answer.model_extra["hengshi"]


def ask_stream(client, request):
    """The path rides on a stream's first chunk, times and cost on its last."""
    text, told = "", {}
    for chunk in client.chat.completions.create(**request, stream=True):
        text += chunk.choices[0].delta.content or ""
        told.update((chunk.model_extra or {}).get("hengshi") or {})
    return text, told


def ask(client, row):
    request = {"model": "hengshi", "messages": [{"role": "user", "content": row["text"]}]}
    started = time.monotonic()
    text, told = (ask_stream if row.get("stream") else ask_whole)(client, request)
    took_ms = (time.monotonic() - started) * 1000
    confidence = told.get("confidence")
    print_row([row["text"], told["path"], "-" if confidence is None else f"{confidence:.2f}", f"{took_ms:.1f}",
               str(told.get("cost_micro_usd", 0)), text])
    return told["path"]


def run(folder, cloud):
    rows = [json.loads(line) for line in (stack.PACK / "demo.jsonl").read_text().splitlines() if line.strip()]
    with stack.Gateway(folder, config(folder, cloud)) as gateway:
        gateway.wait_for_port()
        print(f"hengshi listens on {gateway.base_url}; asking {len(rows)} questions through the OpenAI Python SDK {openai.__version__}\n")
        print_row([name for name, _ in COLUMNS])
        print_row(["-" * columns for _, columns in COLUMNS])
        with openai.OpenAI(base_url=gateway.base_url, api_key=stack.KEY, max_retries=0) as client:
            client.models.list()  # Opens the connection, so that the first question does not pay for it.
            paths = {ask(client, row) for row in rows}
        gateway.stop()
        print("\nhengshi ledger stats", flush=True)
        subprocess.run([stack.BUILD / "hengshi", "ledger", "stats", "--config", gateway.config_path], check=True)
    if missing := EVERY_TIER - paths:
        sys.exit(f"the demo should show every tier, but nothing was answered by: {', '.join(sorted(missing))}")


def main():
    started = time.monotonic()
    stack.train_demo_pack(say=print)
    print(f"light models ready ({time.monotonic() - started:.0f} s)")
    with tempfile.TemporaryDirectory(prefix="hengshi-demo-") as name:
        folder = pathlib.Path(name)
        if os.environ.get("OPENAI_API_KEY"):
            base_url = os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1")
            model = os.environ.get("OPENAI_MODEL", "gpt-4o-mini")
            print(f"the cloud is {model} at {base_url}")
            run(folder, {"base_url": base_url, "model": model, "api_key_env": "OPENAI_API_KEY"})
        else:
            print("no cloud key set (OPENAI_API_KEY): the cloud is a FAKE upstream on this machine. It says the question back,\n"
                  "after 400 ms and then a token every 20 ms, as a real one might take.")
            with stack.FakeUpstream(folder, "--latency-ms", 400, "--token-ms", 20) as fake:
                run(folder, {"base_url": fake.base_url, "model": "fake-cloud"})


if __name__ == "__main__":
    main()
