"""A light model is exchanged under load: every answer is whole, and of the one version or the other."""
import hashlib
import http.client
import json
import re
import shutil
import subprocess
import threading
import time

import stack

from conftest import eventually, full_config

QUESTIONS = {"zh": "路由器怎么恢复出厂设置", "en": "How do I reset my router to factory settings?"}
MARK = " [second]"
RATE, CLIENTS, SWAPS = 500, 8, 6


def version_of(folder):
    manifest = re.sub(r'"created": "[^"]*"', '"created": ""', (folder / "manifest.json").read_text(), count=1)
    return hashlib.sha256(manifest.encode()).hexdigest()[:12]


def marked_copy(source, target):
    """The same model, whose answers all end in a mark."""
    shutil.copytree(source, target)
    answers = json.loads((target / "answers.json").read_text())
    for intent in answers["intents"]:
        intent["answers"] = [answer + MARK for answer in intent["answers"]]
    text = json.dumps(answers, ensure_ascii=False)
    (target / "answers.json").write_text(text)
    manifest = json.loads((target / "manifest.json").read_text())
    manifest["files"]["answers.json"] = {"bytes": len(text.encode()), "sha256": hashlib.sha256(text.encode()).hexdigest()}
    (target / "manifest.json").write_text(json.dumps(manifest))


class Client(threading.Thread):
    def __init__(self, port, until):
        super().__init__()
        self.port, self.until, self.answers, self.failure = port, until, [], None

    def run(self):
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
            body = json.dumps({"model": "hengshi", "messages": [{"role": "user", "content": QUESTIONS["en"]}]})
            headers = {"Authorization": f"Bearer {stack.KEY}", "Content-Type": "application/json"}
            due = time.monotonic()
            while not self.until.is_set():
                connection.request("POST", "/v1/chat/completions", body, headers)
                answer = connection.getresponse()
                text = json.loads(answer.read())["choices"][0]["message"]["content"]
                self.answers.append((answer.status, answer.headers["x-hengshi-path"], answer.headers["x-hengshi-model"], text))
                due += CLIENTS / RATE
                time.sleep(max(0, due - time.monotonic()))
        except Exception as error:  # noqa: BLE001: told by the test
            self.failure = error


def test_a_swap_under_load_loses_and_mixes_nothing(start, fake, artifacts, tmp_path):
    light = tmp_path / "light" / "en"
    shutil.copytree(artifacts / "en", light)
    kept = light.parent / "en.versions" / "made-by-hand"
    kept.parent.mkdir()
    marked_copy(artifacts / "en", kept)
    versions = [version_of(light), version_of(kept)]
    config = full_config(fake, artifacts, tmp_path)
    config["light"]["en"] = light
    config["route"][0]["tiers"] = ["light"]
    gateway = start(config)
    ended = threading.Event()
    clients = [Client(gateway.port, ended) for _ in range(CLIENTS)]
    began = time.monotonic()
    for client in clients:
        client.start()
    try:
        for swap in range(SWAPS):
            subprocess.run([stack.BUILD / "hengshi", "artifact", "rollback", light], check=True, capture_output=True)
            wanted = versions[(swap + 1) % 2]
            eventually(lambda: clients[0].failure or (clients[0].answers and wanted in clients[0].answers[-1][2]))
    finally:
        ended.set()
        for client in clients:
            client.join()
    seconds = time.monotonic() - began
    assert not [client.failure for client in clients if client.failure]
    answers = [answer for client in clients for answer in client.answers]
    for status, path, model, text in answers:
        assert (status, path) == (200, "light")
        assert any(model.endswith("@" + version) for version in versions)
        assert text.endswith(MARK) == model.endswith("@" + versions[1]), (model, text)
    print(f"{len(answers)} answers over {SWAPS} swaps, {len(answers) / seconds:.0f} a second, none lost, none mixed")
    told = subprocess.run([stack.BUILD / "hengshi", "artifact", "list", light], check=True, capture_output=True, text=True)
    assert all(version in told.stdout for version in versions) and "in use" in told.stdout


def test_an_artifact_that_does_not_read_leaves_the_old_one_in_use(start, fake, artifacts, tmp_path):
    light = tmp_path / "light" / "en"
    shutil.copytree(artifacts / "en", light)
    config = full_config(fake, artifacts, tmp_path)
    config["light"]["en"] = light
    config["route"][0]["tiers"] = ["light"]
    gateway = start(config)
    body = {"model": "hengshi", "messages": [{"role": "user", "content": QUESTIONS["en"]}]}
    before = gateway.chat(body)[1]["x-hengshi-model"]
    (light / "manifest.json").write_text("{}")
    eventually(lambda: gateway.metric("hengshi_reloads_total") == 1)
    assert "reload_refused" in gateway.log()
    assert gateway.chat(body)[1]["x-hengshi-model"] == before
