"""Starting, reloading, stopping, and what happens when disk, models or config are not as they should be."""
import json
import os
import shutil
import socket
import subprocess
import threading
import time

import pytest
import stack
from conftest import RULES, chat_bytes, eventually, full_config, route, upstream

QUESTION = {"model": "hengshi", "messages": [{"role": "user", "content": "Is anyone there?"}]}


def hengshi(*arguments, timeout=60):
    return subprocess.run([stack.BUILD / "hengshi", *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                          stdin=subprocess.DEVNULL)


def write(folder, sections):
    path = folder / "hengshi.toml"
    path.write_text(stack.toml_document(sections))
    return path


@pytest.mark.parametrize("change, words", [
    (lambda c: c["server"].update(prot=1), ["hengshi.toml:", "prot", "port"]),
    (lambda c: c["server"].update(port="eighty"), ["hengshi.toml:", "port", "whole number"]),
    (lambda c: c["route"][0].update(upstreams=["none"]), ["none"]),
    (lambda c: c["route"][0].update(total="soon"), ["hengshi.toml:", "total", "duration"]),
    (lambda c: c["server"].update(address="0.0.0.0") or c.pop("key"), ["0.0.0.0", "keys"]),
    (lambda c: c["key"][0].update(sha256="abc"), ["sha256"]),
    (lambda c: c.update(serfer={"port": 1}), ["hengshi.toml:", "serfer", "server"]),
], ids=["unknown key", "wrong type", "unknown upstream", "duration", "open to all", "hash", "unknown section"])
def test_config_errors_name_the_line_and_the_fix(tmp_path, light_config, change, words):
    light_config["server"] = {"port": 0}
    change(light_config)
    path = write(tmp_path, light_config)
    for command in ("check", "serve"):
        told = hengshi(command, "--config", path)
        assert told.returncode != 0
        for word in words:
            assert word in told.stderr + told.stdout
    lines = path.read_text().splitlines()
    if words[0] == "hengshi.toml:":
        line = int((told.stderr + told.stdout).split("hengshi.toml:")[1].split(":")[0])
        assert words[1] in lines[line - 1]


def test_a_missing_config_says_what_to_do(tmp_path):
    told = hengshi("serve", "--config", tmp_path / "none.toml")
    assert told.returncode != 0 and "none.toml" in told.stderr + told.stdout


def test_init_writes_a_config_that_checks(tmp_path):
    path = tmp_path / "hengshi.toml"
    assert hengshi("init", "--config", path).returncode == 0
    assert path.read_text().count("#") > 30
    assert hengshi("check", "--config", path).returncode == 0
    assert hengshi("init", "--config", path).returncode != 0  # Never over an existing file.


def test_init_names_the_models_beside_it(tmp_path, fake, artifacts):
    """README's walk: train, init, add an upstream at the end, check."""
    (tmp_path / "models").symlink_to(stack.MODELS)
    (tmp_path / "artifacts").mkdir()
    (tmp_path / "artifacts" / artifacts.name).symlink_to(artifacts)
    path = tmp_path / "hengshi.toml"
    told = hengshi("init", "--config", path)
    assert told.returncode == 0 and '[light] zh = "artifacts/' in told.stdout
    off = told.stdout.split("Still off", 1)[1]
    assert "rules:" in off and "upstreams:" in off and "semantic" not in off and "light" not in off
    path.write_text(path.read_text() + "\n" + stack.toml_document({"upstream": [upstream(fake)]}))
    told = hengshi("check", "--config", path)
    assert told.returncode == 0 and [line for line in told.stdout.splitlines() if line.startswith("# off: ")] == [
        '# off: rules: write [rules] file = "my-pack/rules.toml" (docs/rules.md)']


def test_a_table_written_twice_is_told_with_both_lines(tmp_path):
    path = tmp_path / "hengshi.toml"
    assert hengshi("init", "--config", path).returncode == 0
    first = path.read_text().splitlines().index("[models]") + 1
    path.write_text(path.read_text() + '[models]\nzh = "models"\n')
    told = hengshi("check", "--config", path)
    last = len(path.read_text().splitlines()) - 1
    assert told.returncode == 2
    assert f"hengshi.toml:{last}: [models] is there already in line {first}: write its keys there" in told.stderr


def test_port_in_use(tmp_path, light_config):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        light_config["server"] = {"port": port}
        told = hengshi("serve", "--config", write(tmp_path, light_config))
    assert told.returncode != 0 and str(port) in told.stderr + told.stdout


@pytest.mark.parametrize("file, harm", [
    ("model.safetensors", lambda p: p.write_bytes(p.read_bytes()[:1000])),
    ("model.safetensors", lambda p: p.write_bytes(b"\xff" * 4096)),
    ("model.safetensors", lambda p: p.unlink()),
    ("tokenizer.json", lambda p: p.write_text("{")),
    ("config.json", lambda p: p.write_text('{"model_type": "gpt"}')),
], ids=["cut", "garbage", "missing", "tokenizer", "config"])
def test_a_corrupt_model_file_is_named(tmp_path, light_config, file, harm):
    model = tmp_path / "model"
    shutil.copytree(stack.MODELS / "all-minilm-l6-v2", model)
    harm(model / file)
    light_config["models"] = {"en": model}
    told = hengshi("serve", "--config", write(tmp_path, light_config))
    assert told.returncode > 0 and file in told.stderr + told.stdout


def test_a_corrupt_light_artifact_is_named(tmp_path, fake, artifacts):
    copy = tmp_path / "artifact"
    shutil.copytree(artifacts, copy)
    victim = max((p for p in (copy / "en").iterdir() if p.is_file()), key=lambda p: p.stat().st_size)
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 0xFF
    victim.write_bytes(data)
    told = hengshi("serve", "--config", write(tmp_path, full_config(fake, copy, tmp_path)))
    assert told.returncode > 0 and victim.name in told.stderr + told.stdout


def test_sighup_takes_the_new_config_whole(start, light_config):
    gateway = start(light_config)
    assert gateway.chat(QUESTION, key="sk-new")[0] == 401
    light_config["key"].append({"name": "new", "tenant": "new", "sha256": stack.sha256_of("sk-new")})
    light_config["route"].append(route("extra", tiers=["exact"]))
    gateway.write_config()
    gateway.reload()
    eventually(lambda: gateway.chat(QUESTION, key="sk-new")[0] == 200)
    assert gateway.chat({**QUESTION, "model": "extra"})[0] == 200


def test_a_bad_new_config_leaves_the_old_one(start, light_config):
    gateway = start(light_config)
    text = gateway.config_path.read_text()
    gateway.config_path.write_text(text.replace("[[route]]", "[[route]]\nnonsense = 1", 1).replace(
        stack.sha256_of(stack.KEY), stack.sha256_of("sk-other")))
    gateway.reload()
    eventually(lambda: "nonsense" in gateway.log())
    assert gateway.chat(QUESTION)[0] == 200 and gateway.chat(QUESTION, key="sk-other")[0] == 401


def test_a_reload_cannot_move_the_port(start, light_config):
    gateway = start(light_config)
    gateway.config_path.write_text(gateway.config_path.read_text().replace("port = 0", "port = 1234"))
    gateway.reload()
    eventually(lambda: "restart" in gateway.log())
    assert gateway.chat(QUESTION)[0] == 200


def test_rules_are_reloaded_when_the_file_changes(start, fake, artifacts, tmp_path):
    config = full_config(fake, artifacts, tmp_path)
    config.update(models={}, light={}, cache={})
    gateway = start(config)
    rules = tmp_path / "rules.toml"
    say = lambda: gateway.ask("When are shops open?")[1]["choices"][0]["message"]["content"]
    assert "from 9 to 18" in say()
    rules.write_text(RULES.replace("from 9 to 18", "all night"))
    eventually(lambda: "all night" in say())
    rules.write_text(RULES.replace("from 9 to 18", "never").replace("(?i)^when", "(?i"))
    eventually(lambda: "rules.toml:4" in gateway.log())
    assert "all night" in say()
    rules.write_text(RULES.replace("from 9 to 18", "at last"))
    eventually(lambda: "at last" in say())


def test_sigterm_finishes_live_streams(start, slow_fake, light_config):
    light_config["upstream"] = [upstream(slow_fake)]
    gateway = start(light_config)
    connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=30)
    idle = socket.create_connection(("127.0.0.1", gateway.port), timeout=30)
    connection.sendall(chat_bytes({**QUESTION, "stream": True}))
    received = connection.recv(65536)
    while b"data:" not in received:
        received += connection.recv(65536)
    assert b"[DONE]" not in received, "the stream must still be alive for this test to mean anything"
    gateway.process.terminate()
    assert idle.recv(1) == b""  # An idle connection is closed at once,
    while block := connection.recv(65536):  # a live stream comes to its end.
        received += block
    assert received.count(b"data: [DONE]") == 1 and received.endswith(b"0\r\n\r\n")
    assert gateway.process.wait(20) == 0


def test_sigterm_does_not_wait_for_long_work(start, light_config):
    light_config["models"] = {"en": stack.MODELS / "all-minilm-l6-v2"}
    light_config["compute"] = {"threads": 1}
    light_config["server"] = {"drain_timeout": "1s"}
    gateway = start(light_config)
    texts = [f"Text {i}: " + "this is a long text about nothing in particular. " * 40 for i in range(2048)]
    body = json.dumps({"model": "all-minilm-l6-v2", "input": texts}).encode()
    connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=30)
    connection.sendall(b"POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
                       b"Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s" % (stack.KEY.encode(), len(body), body))
    eventually(lambda: "compute-0" in gateway.threads())
    worker = gateway.threads()["compute-0"][0]
    ticks = lambda: int(open(f"/proc/{gateway.pid}/task/{worker}/stat").read().rsplit(")", 1)[1].split()[11])
    eventually(lambda: ticks() > 20)  # 0.2 s of work: it is at it.
    started = time.monotonic()
    gateway.process.terminate()
    assert gateway.process.wait(20) == 0
    assert 0.5 < time.monotonic() - started < 4  # The drain's time, a text's, and a loaded machine's.
    assert connection.recv(1) == b""


@pytest.fixture
def small_disk(tmp_path):
    if os.geteuid() != 0:
        pytest.skip("skipped: a small file system needs root")
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", folder]).returncode != 0:
        pytest.skip("skipped: mount is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_for_the_ledger_stops_no_answer(start, light_config, small_disk):
    light_config["ledger"] = {"path": small_disk / "ledger.db"}
    gateway = start(light_config)

    def ask_many():
        for i in range(400):
            assert gateway.ask(f"Question {i % 7}")[1]["choices"]

    threads = [threading.Thread(target=ask_many) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    eventually(lambda: gateway.metric('hengshi_fail_open_total{part="ledger"') > 0)
    assert gateway.ask("And now?")[1]["choices"]


def test_no_torn_entry_after_kill(start, light_config, tmp_path):
    cache = tmp_path / "cache"
    light_config["cache"] = {"directory": cache}
    gateway = start(light_config)
    questions = [f"Question number {i}: what is {i} times {i}?" for i in range(50)]
    told = {q: gateway.ask(q)[1]["choices"] for q in questions}
    eventually(lambda: all(gateway.ask(q)[0]["x-hengshi-path"] == "cache.exact" for q in questions))
    eventually(lambda: sum(p.stat().st_size for p in cache.rglob("*")) > 5000)
    gateway.kill()
    for file in (p for p in cache.rglob("*") if p.is_file() and p.stat().st_size > 2000):
        data = bytearray(file.read_bytes()[:-37])  # The last entry torn,
        data[len(data) // 2] ^= 0x55               # one in the middle harmed.
        file.write_bytes(data)
    gateway = start(light_config)
    hits = 0
    for question in questions:
        headers, body = gateway.ask(question)
        assert body["choices"] == told[question]
        hits += headers["x-hengshi-path"] == "cache.exact"
    assert 40 <= hits < 50


def test_the_cache_survives_a_kill(start, light_config, tmp_path):
    light_config["cache"] = {"directory": tmp_path / "cache"}
    gateway = start(light_config)
    gateway.ask("Will you remember this?")
    eventually(lambda: any(b"remember this" in p.read_bytes() for p in (tmp_path / "cache").rglob("*") if p.is_file()))
    gateway.kill()
    assert start(light_config).ask("Will you remember this?")[0]["x-hengshi-path"] == "cache.exact"


def test_ledger_commands_read_beside_the_running_server(gateway):
    gateway.ask("When are shops open?")
    path = gateway.sections["ledger"]["path"]

    def seen(command):
        told = hengshi("ledger", command, "--config", gateway.config_path)
        assert told.returncode == 0, told.stderr
        return "rule" in told.stdout

    eventually(lambda: path.exists() and seen("stats") and seen("tail"))


def test_the_ledger_before_and_after_the_first_answer(start, fake, light_config):
    path = light_config["ledger"]["path"]
    told = hengshi("ledger", "tail", "--path", path)
    assert told.returncode == 2 and f"{path}: there is no ledger yet; `hengshi serve` makes it" in told.stderr
    light_config["upstream"] = [upstream(fake), upstream(fake, "free", input_price=0, output_price=0)]
    gateway = start(light_config)
    gateway.ask("What is it?")
    gateway.ask("What is it?", model="free-model")
    gateway.ask("What is it?")

    def lines():
        told = hengshi("ledger", "tail", "--path", path)
        return told.stdout.splitlines() if told.returncode == 0 else []

    eventually(lambda: len(lines()) == 4)
    head, *rows = lines()
    assert "cost µ$" in head and "conf" in head
    cost = head.index("cost µ$")
    costs = [row[cost:].split()[0] for row in rows]
    assert int(costs[0]) > 0 and costs[1:] == ["-", "0"]  # of a provider with prices, of one without, of the cache


def test_the_metrics_may_have_a_key_of_their_own(start, light_config, tmp_path):
    light_config["server"] = {"metrics_key_env": "TEST_METRICS_KEY"}
    told = hengshi("check", "--config", write(tmp_path, light_config))
    assert told.returncode == 2 and "TEST_METRICS_KEY" in told.stderr and "not set" in told.stderr
    gateway = start(light_config, env={"TEST_METRICS_KEY": "figures"})
    scrape = lambda key: gateway.request("GET", "/metrics", headers={"Authorization": f"Bearer {key}"} if key else {})
    for key in ("", stack.KEY, "wrong"):
        status, _, body = scrape(key)
        assert status == 401 and b"metrics_key_env" in body and b"hengshi_http" not in body
    assert scrape("figures")[0] == 200 and b"hengshi_http_connections" in scrape("figures")[2]
    assert gateway.chat(QUESTION, key="figures")[0] == 401
    assert gateway.request("GET", "/healthz")[0] == 200


@pytest.mark.parametrize("arguments, words", [
    ([], "hengshi: which command? There are: init, serve, check"),
    (["eval"], "hengshi eval: which command? There are: intent, noise, risk; hengshi eval --help says more"),
    (["train"], "hengshi train: pack is required; hengshi train --help says more"),
    (["ledger", "tail", "--limit", "none"], "hengshi ledger tail: "),
    (["serve", "--prot", "1"], "hengshi serve: "),
], ids=["no command", "no command below", "no pack", "no number", "unknown option"])
def test_a_bad_call_is_told_in_one_line(arguments, words):
    told = hengshi(*arguments)
    assert told.returncode == 2 and not told.stdout
    assert told.stderr.startswith(words) and told.stderr.count("\n") == 1 and "--help says more" in told.stderr


@pytest.mark.parametrize("arguments, words", [
    (["nonsense"], ["hengshi: unknown command 'nonsense'; there are: init, serve, check"]),
    (["xy"], ["hengshi: unknown command 'xy'; there are: "]),
    (["srve"], ["'srve'", "did you mean 'serve'?"]),
    (["ledger", "tial"], ["hengshi ledger: unknown command 'tial'", "did you mean 'tail'?"]),
    (["eval", "everything"], ["'everything'", "intent"]),
    (["keys", "remove", "x"], ["'remove'", "add, list"]),
], ids=" ".join)
def test_an_unknown_command_is_told_what_there_is(arguments, words):
    told = hengshi(*arguments)
    assert told.returncode == 2 and not told.stdout
    for word in words:
        assert word in told.stderr


@pytest.mark.parametrize("arguments", [[""], ["a\nb"], ["\x1b[31mred"], ["fine", "--tenant", ""], ["fine", "--tenant", "a\rb"]],
                         ids=["empty", "line break", "control", "no tenant", "tenant"])
def test_a_bad_key_name_is_refused(tmp_path, light_config, arguments):
    path = write(tmp_path, light_config)
    before = path.read_text()
    told = hengshi("keys", "add", *arguments, "--config", path)
    assert told.returncode == 2 and not told.stdout
    assert "a name must not" in told.stderr and "\x1b" not in told.stderr and told.stderr.count("\n") == 1
    assert path.read_text() == before


def test_weights_without_a_manifest_are_said_to_be_unchecked(tmp_path, light_config):
    model = tmp_path / "model"
    shutil.copytree(stack.MODELS / "all-minilm-l6-v2", model)
    (model / "hengshi.json").unlink()
    light_config["models"] = {"en": model}
    path = write(tmp_path, light_config)
    for command in ("check", "models"):
        told = hengshi(command, "--config", path)
        assert told.returncode == 0 and "unchecked" in told.stdout and '"event":"model_unchecked"' in told.stderr


def test_a_light_model_that_never_answers_is_said_to_be_one(start, fake, artifacts, tmp_path):
    light = tmp_path / "light" / "en"
    shutil.copytree(artifacts / "en", light)
    manifest = json.loads((light / "manifest.json").read_text())
    manifest["threshold"].update(value=1, how="too few held-out rows: never answers")
    (light / "manifest.json").write_text(json.dumps(manifest))
    config = full_config(fake, artifacts, tmp_path)
    config["light"]["en"] = light
    config["route"][0]["tiers"] = ["light"]
    gateway = start(config)
    assert gateway.ask("How do I reset my router to factory settings?")[0]["x-hengshi-path"] == "cloud"
    told = [line for line in gateway.log().splitlines() if '"event":"light_model"' in line]
    assert ['"threshold":"never","how":"too few held-out rows: never answers"' in line for line in told] == [False, True]
    gateway.stop()
    assert "light:never_answers" in hengshi("ledger", "tail", "--config", gateway.config_path).stdout
    for command in (["check", "--config", gateway.config_path], ["models", "--config", gateway.config_path],
                    ["artifact", "list", light]):
        shown = hengshi(*command).stdout
        assert "never" in shown and "too few held-out rows: never answers" in shown, shown


def test_a_folder_that_is_no_light_model_is_named(tmp_path, artifacts):
    labels = tmp_path / "labels.jsonl"
    labels.write_text('{"text": "a", "label": "oos"}\n')
    for command in (["artifact", "list"], ["artifact", "rollback"], ["calibrate", "--labels", labels]):
        told = hengshi(*command, artifacts)
        assert told.returncode != 0 and f"{artifacts}: holds no manifest.json; expected is" in told.stderr, told.stderr
        assert str(artifacts / "en") in told.stderr
        assert f"{tmp_path}/none: is not there; expected is" in hengshi(*command, tmp_path / "none").stderr


def test_a_read_only_cache_folder_says_what_to_do(tmp_path, light_config, small_disk):
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    light_config["cache"] = {"directory": small_disk / "cache"}
    light_config["server"] = {"port": 0}
    told = hengshi("serve", "--config", write(tmp_path, light_config))
    assert told.returncode == 1 and "[cache] directory" in told.stderr and str(small_disk) in told.stderr


def test_keys_are_stored_as_hashes_only(tmp_path, light_config):
    path = write(tmp_path, light_config)
    told = hengshi("keys", "add", "alice", "--config", path)
    assert told.returncode == 0
    secret = next(word for word in told.stdout.split() if word.startswith("hs-"))
    assert secret not in path.read_text() and stack.sha256_of(secret) in path.read_text()
    before = path.read_text()
    told = hengshi("keys", "add", "alice", "--tenant", "other", "--config", path)
    assert told.returncode == 2 and not told.stdout and path.read_text() == before
    assert "there is a key 'alice' already, of tenant 'default'" in told.stderr
