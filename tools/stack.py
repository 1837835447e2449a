"""The programs of a running hengshi, started and stopped from Python: what demo, tests and benchmarks share.

Nothing here sleeps for a fixed time, and nothing it starts outlives stop() or the process that started it.
"""
import ctypes
import hashlib
import http.client
import json
import os
import pathlib
import signal
import ssl
import subprocess
import time
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("HENGSHI_BUILD", ROOT / "build" / "release"))
MODELS = pathlib.Path(os.environ.get("HENGSHI_MODELS", ROOT / "models"))
PACK = ROOT / "packs" / "demo"
ARTIFACTS = ROOT / "artifacts" / tomllib.loads((PACK / "pack.toml").read_text())["name"]
KEY = "sk-test-0123456789abcdef"
START_SECONDS = 60


def _die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def toml(value):
    """A TOML value; a dict becomes an inline table."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return json.dumps(str(value) if isinstance(value, pathlib.Path) else value, ensure_ascii=False)


def toml_document(sections):
    """{"server": {...}, "key": [{...}, ...]} as [server] and [[key]] sections."""
    lines = []
    for name, section in sections.items():
        for head, table in [(f"[[{name}]]", t) for t in section] if isinstance(section, list) else [(f"[{name}]", section)]:
            lines += [head] + [f"{key} = {toml(value)}" for key, value in table.items()] + [""]
    return "\n".join(lines)


class Program:
    """One child process, its log and the port it chose."""

    def __init__(self, argv, folder, name, env=None, preexec=None):
        self.name, self.folder = name, pathlib.Path(folder)
        self.port_file = self.folder / f"{name}.port"
        self.log_path = self.folder / f"{name}.log"
        self.port_file.unlink(missing_ok=True)

        def prepare():
            _die_with_parent()
            if preexec:
                preexec()

        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen([str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env={**os.environ, **(env or {})}, preexec_fn=prepare)

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        return self.log_path.read_text(errors="replace")

    def wait_for_port(self):
        limit = time.monotonic() + START_SECONDS
        while time.monotonic() < limit:
            text = self.port_file.read_text() if self.port_file.exists() else ""
            if text.strip():
                self.port = int(text)
                return self
            if self.process.poll() is not None:
                raise RuntimeError(f"{self.name} ended with {self.process.returncode}:\n{self.log()[-2000:]}")
            time.sleep(0.005)
        self.kill()
        raise RuntimeError(f"{self.name} opened no port within {START_SECONDS} s:\n{self.log()[-2000:]}")

    def stop(self, seconds=40):
        """Asks it to end and returns its exit status."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise RuntimeError(f"{self.name} did not end within {seconds} s of SIGTERM") from None

    def kill(self):
        self.process.kill()
        self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def connection(self, timeout):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def request(self, method, path, body=None, headers=None, timeout=60):
        """One request on a connection of its own: (status, headers in lower case, body)."""
        connection = self.connection(timeout)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    def threads(self):
        """Thread ids by name."""
        found = {}
        for task in pathlib.Path(f"/proc/{self.pid}/task").iterdir():
            found.setdefault((task / "comm").read_text().strip(), []).append(int(task.name))
        return found

    def rss_mb(self):
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024


class FakeUpstream(Program):
    """tools/fake_upstream: says the question back, and misbehaves as its model's name says ("fake-model+cut:3")."""

    def __init__(self, folder, *options, name="fake"):
        port_file = pathlib.Path(folder) / f"{name}.port"
        self.scheme = "https" if "--tls-cert" in options else "http"
        super().__init__([BUILD / "fake_upstream", "--port", 0, "--port-file", port_file, *options], folder, name)
        self.wait_for_port()

    def connection(self, timeout):
        if self.scheme == "http":
            return super().connection(timeout)
        trusting = ssl._create_unverified_context()  # Tests start it with certificates of their own.
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=trusting)

    @property
    def base_url(self):
        return f"{self.scheme}://127.0.0.1:{self.port}/v1"

    def stats(self):
        return json.loads(self.request("GET", "/fake/stats")[2])

    def last(self):
        """The last chat request: headers by lower-case name, and the body as it came."""
        told = json.loads(self.request("GET", "/fake/last")[2])
        return {"headers": {name.lower(): value for name, value in told["headers"]}, "body": told["body"]}


class Gateway(Program):
    """`hengshi serve` on a config given as sections; see toml_document()."""

    def __init__(self, folder, sections, env=None, preexec=None, name="hengshi"):
        folder = pathlib.Path(folder)
        self.config_path = folder / f"{name}.toml"
        self.sections = sections
        sections.setdefault("server", {}).update(port=0, port_file=folder / f"{name}.port")
        self.write_config()
        super().__init__([BUILD / "hengshi", "serve", "--config", self.config_path], folder, name, env, preexec)

    def write_config(self):
        self.config_path.write_text(toml_document(self.sections))

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def chat(self, body, key=KEY, headers=None, timeout=60):
        if not isinstance(body, (bytes, str)):
            body = json.dumps(body, ensure_ascii=False)
        body = body.encode() if isinstance(body, str) else body
        told = {"Content-Type": "application/json", "Authorization": f"Bearer {key}", **(headers or {})}
        return self.request("POST", "/v1/chat/completions", body, told, timeout)

    def ask(self, question, model="hengshi", **more):
        """(headers, JSON) of a question that must be answered with 200."""
        headers = more.pop("headers", None)
        body = {"model": model, "messages": [{"role": "user", "content": question}], **more}
        status, told, text = self.chat(body, headers=headers)
        if status != 200:
            raise AssertionError(f"{question}: {status} {text[:500]!r}")
        return told, json.loads(text)

    def metric(self, name):
        """Sum of a metric's series whose line starts with `name`."""
        text = self.request("GET", "/metrics")[2].decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


def sha256_of(key):
    return hashlib.sha256(key.encode()).hexdigest()


def _training_inputs():
    """One hash over all that shapes the demo's light models: pack, encoders, and the code that fits them."""
    digest = hashlib.sha256()
    files = [p for room in ("text", "nn", "light", "tune", "train") for p in (ROOT / "src" / room).glob("*.[ch]*")]
    files += [p for p in PACK.rglob("*.toml")] + [MODELS / m / "hengshi.json" for m in ("bge-small-zh-v1.5", "all-minilm-l6-v2")]
    for path in sorted(files):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def train_demo_pack(say=lambda text: None):
    """The folder of the demo's light models, trained when they are missing or older than what they are made from."""
    stamp, wanted = ARTIFACTS / "inputs.sha256", _training_inputs()
    if stamp.exists() and stamp.read_text() == wanted:
        return ARTIFACTS
    say("training the demo pack's light models")
    stamp.unlink(missing_ok=True)
    told = subprocess.run([BUILD / "hengshi", "train", PACK, "--force", "--out", ARTIFACTS.parent, "--models", MODELS], cwd=ROOT,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if told.returncode != 0:
        raise RuntimeError(f"hengshi train failed: {(told.stdout + told.stderr)[-2000:]}")
    say(told.stdout.rstrip())
    stamp.write_text(wanted)
    return ARTIFACTS


def pack_intents():
    """{intent: {language: {"phrasings": […], "answers": […]}}} of the demo pack."""
    intents = {}
    for path in sorted((PACK / "intents").glob("*.toml")):
        for intent in tomllib.loads(path.read_text())["intent"]:
            intents[intent["name"]] = intent
    return intents


def pack_phrasings(language):
    return [p for intent in pack_intents().values() for p in intent.get(language, {}).get("phrasings", [])]
