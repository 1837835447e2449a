"""Fixtures: the fake upstream and a gateway on the demo pack, started once; more gateways as a test needs them."""
import json
import pathlib
import sys
import time

import openai
import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import stack  # noqa: E402

LIMITED_KEY = "sk-limited"

RULES = """
[[rule]]
name = "opening_hours"
patterns = ['(?i)^when (?:are|is) (?P<shop>[a-z]+) open']
answer = "{shop} is open from 9 to 18."
examples = ["When are shops open?"]

[[rule]]
name = "to_the_second"
patterns = ['(?i)please use the second model']
route = "second"
examples = ["Please use the second model"]
"""


def eventually(true, seconds=20):
    limit = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < limit, "did not become true in time"
        time.sleep(0.02)


def chat_bytes(body, more=""):
    """A chat request as it goes onto the wire; `more`: further header lines."""
    body = json.dumps(body).encode()
    return (f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{more}"
            f"Authorization: Bearer {stack.KEY}\r\nContent-Length: {len(body)}\r\n\r\n").encode() + body


def read_to_end(connection):
    received = b""
    try:
        while block := connection.recv(65536):
            received += block
    except ConnectionResetError:
        pass
    return received


def key(secret, **more):
    return {"name": secret[-6:], "tenant": "acme", "sha256": stack.sha256_of(secret), **more}


def upstream(fake, name="fake", **more):
    return {"name": name, "base_url": fake if isinstance(fake, str) else fake.base_url, "model": f"{name}-model",
            "input_price": 0.5, "output_price": 1.5, **more}


def route(name="hengshi", upstreams=("fake",), **more):
    return {"name": name, "models": [name], "upstreams": list(upstreams), "scope": "tenant", **more}


@pytest.fixture(scope="session")
def artifacts():
    return stack.train_demo_pack()


@pytest.fixture(scope="session")
def fake(tmp_path_factory):
    with stack.FakeUpstream(tmp_path_factory.mktemp("fake")) as program:
        yield program


@pytest.fixture(scope="session")
def slow_fake(tmp_path_factory):
    """Twenty tokens and more, 50 ms apart."""
    with stack.FakeUpstream(tmp_path_factory.mktemp("slow"), "--token-ms", 50, "--tokens", 20) as program:
        yield program


@pytest.fixture
def light_config(fake, tmp_path):
    """Sections of a gateway without models: starts at once."""
    return {
        "ledger": {"path": tmp_path / "ledger.db"},
        "log": {"access": False},
        "key": [key(stack.KEY)],
        "upstream": [upstream(fake)],
        "route": [route(tiers=["exact"])],
    }


def full_config(fake, artifacts, folder):
    """Every tier: both encoders, the demo pack, rules, caches on disk."""
    folder = pathlib.Path(folder)
    (folder / "rules.toml").write_text(RULES)
    return {
        "models": {"zh": stack.MODELS / "bge-small-zh-v1.5", "en": stack.MODELS / "all-minilm-l6-v2"},
        "light": {language: artifacts / language for language in ("zh", "en")},
        "rules": {"file": folder / "rules.toml"},
        "cache": {"directory": folder / "cache"},
        "ledger": {"path": folder / "ledger.db"},
        "key": [key(stack.KEY), key(LIMITED_KEY, requests_per_minute=2)],
        "upstream": [upstream(fake), upstream(fake, "second")],
        "route": [route(), route("second", ["second"])],
    }


@pytest.fixture(scope="session")
def gateway(fake, artifacts, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gateway")
    config = full_config(fake, artifacts, folder)
    for one in config["route"]:
        one["first_answer"] = "8s"  # the encoder has a quarter of it, also on a machine that is busy
    with stack.Gateway(folder, config) as program:
        yield program.wait_for_port()


@pytest.fixture
def start(tmp_path):
    """start(sections): one more gateway, stopped after the test."""
    started = []

    def run(sections, **more):
        program = stack.Gateway(tmp_path, sections, name=f"gateway{len(started)}", **more)
        started.append(program)
        return program.wait_for_port()

    yield run
    for program in started:
        if program.process.poll() is None:
            assert program.stop() == 0, program.log()[-2000:]


@pytest.fixture
def limited_key():
    return LIMITED_KEY


@pytest.fixture
def client(gateway):
    with openai.OpenAI(base_url=gateway.base_url, api_key=stack.KEY, max_retries=0) as one:
        yield one


@pytest.fixture
def async_client(gateway):
    return openai.AsyncOpenAI(base_url=gateway.base_url, api_key=stack.KEY, max_retries=0)
