"""Packs by the command line: imported, linted, exported; and what a trained one asks back for."""
import json
import subprocess

import pytest
import stack

CSV = 'text,label,answer\nwhere is my parcel,Order Status,"Soon, {really}."\nmy parcel is late,Order Status,\n' \
      'I want my money back,refund,Seven days.\nrefund me,refund,\na poem about parcels,oos,\n'


def pack(*arguments):
    return subprocess.run([stack.BUILD / "hengshi", "pack", *map(str, arguments)], capture_output=True, text=True, timeout=300,
                          stdin=subprocess.DEVNULL)


def test_import_lint_export(tmp_path):
    source, folder = tmp_path / "faq.csv", tmp_path / "shop"
    source.write_text(CSV)
    told = pack("import", source, "--out", folder)
    assert told.returncode == 0, told.stderr
    assert "2 intents, 4 phrasings, 2 answers, 1 negative" in told.stdout
    assert (folder / "intents" / "order_status.toml").exists()
    assert 'name = "shop"' in (folder / "pack.toml").read_text()
    told = pack("lint", folder, "--json", "--models", tmp_path)
    assert told.returncode == 1, told.stdout
    report = json.loads(told.stdout)
    assert report["counts"] == {"few_phrasings": 2} and report["rows"] == 5
    assert report["findings"][0]["file"].endswith("intents/order_status.toml")
    (folder / "rules.toml").write_text('[[rule]]\nname = "a"\npatterns = ["(open"]\nanswer = "b"\n')
    told = pack("lint", folder, "--models", tmp_path)
    assert told.returncode == 1 and f"{folder}/rules.toml:3  rule \"a\": bad pattern '(open'" in told.stdout
    assert told.stdout.splitlines()[1].startswith("en: goes on with n-grams alone: ") and "--models" in told.stdout
    (folder / "rules.toml").unlink()
    rows = tmp_path / "rows.jsonl"
    assert pack("export", folder, "--format", "jsonl", "--out", rows).returncode == 0
    assert json.loads(rows.read_text().splitlines()[0])["answer"] == "Soon, {{really}}."
    again = tmp_path / "again" / "shop"
    assert pack("import", rows, "--out", again).returncode == 0
    for path in (path for path in folder.rglob("*.toml") if path.name != "pack.toml"):
        assert (again / path.relative_to(folder)).read_text() == path.read_text(), path


@pytest.mark.parametrize("name, content, words", [
    ("empty.csv", b"", "no rows"),
    ("latin.csv", b"text,label\ncaf\xe9,a\n", "latin.csv:2: not UTF-8"),
    ("quote.csv", b'text,label\n"a,b\n', "quote.csv:2: a quote that is not closed"),
    ("what.bin", b"\x00\x01", "--format"),
    ("deep.yml", b"nlu: " + b"[" * 100000, "deep.yml:1: not YAML"),
    ("keys.jsonl", b'{"a": 1}\n', "keys.jsonl:1: none of text and label"),
], ids=["empty", "not UTF-8", "open quote", "unknown format", "deep YAML", "other keys"])
def test_bad_sources_name_file_line_and_fix(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    told = pack("import", tmp_path / name, "--out", tmp_path / "pack")
    assert told.returncode == 2 and words in told.stderr, told.stderr
    assert not (tmp_path / "pack").exists()


def test_lint_says_what_training_refuses(tmp_path):
    assert pack("lint", tmp_path / "none").returncode == 2
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"text": "a b", "label": "x", "answer": "1"}\n{"text": "A b!", "label": "y", "answer": "2"}\n')
    told = pack("lint", rows, "--models", tmp_path)
    assert told.returncode == 1 and f'{rows}:2  "A b!" stands for intent y and, in {rows}:1, for intent x' in told.stdout


@pytest.mark.parametrize("question, slot, words, told", [
    ("I want to cancel my order", "order_id", "Which order", "cancel order AB12345678"),
    ("设备报错了", "code", "哪个代码", "扫地机显示E30"),
])
def test_a_missing_slot_is_asked_for(gateway, question, slot, words, told):
    for _ in range(2):
        headers, body = gateway.ask(question)
        assert headers["x-hengshi-path"] == "light"  # never from a cache
        assert body["hengshi"]["asks"] == slot
        assert words in body["choices"][0]["message"]["content"]
    headers, body = gateway.ask(told)
    assert headers["x-hengshi-path"] == "light" and "asks" not in body["hengshi"]


def test_several_questions_are_sent_up(gateway):
    headers, _ = gateway.ask("I want to cancel my order and also how do I create an account?")
    assert headers["x-hengshi-path"] == "cloud"
