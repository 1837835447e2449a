"""Upstreams that refuse, stall, cut, answer garbage or say 429; and clients that leave while one is at work."""
import json
import socket
import time

import pytest
from conftest import chat_bytes, eventually, read_to_end, route, upstream

QUESTION = "What can go wrong today?"


@pytest.fixture
def chain(start, light_config, fake):
    """chain(fault, …): a gateway whose route asks one upstream per fault in this order; "" is a healthy one."""
    def run(*faults, **more):
        names = [f"u{i}" for i in range(len(faults))]
        light_config["upstream"] = [upstream(fake, name, model=f"{name}-model+{fault}" if fault else f"{name}-model")
                                    for name, fault in zip(names, faults)]
        light_config["route"] = [route(upstreams=names, **{"tiers": [], "first_answer": "300ms", "between_tokens": "300ms", **more})]
        return start(light_config)
    return run


def chat(gateway, stream=False, **more):
    return gateway.chat({"model": "hengshi", "messages": [{"role": "user", "content": QUESTION}], "stream": stream}, **more)


def events(body):
    return [line.removeprefix("data: ") for line in body.decode().split("\n\n") if line]


@pytest.mark.parametrize("fault", ["refuse", "500", "503:9", "429:9", "hang-headers", "stall", "garbage", "cut", "error-chunk", "401", "403"])
def test_the_next_upstream_answers_before_the_first_token(chain, fault):
    gateway = chain(fault, "", first_answer="2s" if fault not in ("hang-headers", "stall") else "1s")
    for stream in (False, True):
        status, headers, body = chat(gateway, stream)
        if fault in ("hang-headers", "stall"):  # The first one may take all of first_answer: then nobody is left to ask.
            assert status == 200 and headers["x-hengshi-path"] in ("cloud", "unanswered")
        else:
            assert (status, headers["x-hengshi-path"], headers["x-hengshi-model"]) == (200, "cloud", "u1/u1-model")
            assert "again" not in body.decode()


@pytest.mark.parametrize("fault", ["cut:2", "stall:2", "error-chunk:2"])
def test_a_break_after_the_first_token(chain, fault):
    gateway = chain(fault, "", first_answer="2s")
    status, headers, body = chat(gateway)  # Nothing was shown yet: the next one answers.
    assert (status, headers["x-hengshi-model"]) == (200, "u1/u1-model")
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as connection:
        told = raw_chat(connection, stream=True)
    assert b'"error"' in told and b"[DONE]" not in told and b'"finish_reason":"stop"' not in told
    assert not told.endswith(b"0\r\n\r\n")  # The cut is visible.


def test_a_break_is_told_to_an_old_client_too(chain):
    gateway = chain("cut:2", first_answer="2s")
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as connection:
        told = raw_chat(connection, stream=True, version="1.0")  # No chunks: the end of the connection tells nothing.
    last = events(told)[-1]
    assert b" 200 " in told.split(b"\r\n")[0] and b"[DONE]" not in told and json.loads(last)["error"]["message"]


@pytest.mark.parametrize("fault", ["refuse", "500", "hang-headers", "stall", "garbage", "cut:2", "stall:2", "error-chunk:2", "401"])
def test_with_nobody_left_the_interface_does_not_fail(chain, fault):
    gateway = chain(fault)
    started = time.monotonic()
    status, headers, body = chat(gateway)
    assert (status, headers["x-hengshi-path"]) == (200, "unanswered") and headers["x-hengshi-degraded"]
    assert time.monotonic() - started < 1.5
    assert b"fake" not in body.replace(b"fake-model", b"")  # Nothing the upstream said leaks.


def test_429_comes_back_with_its_retry_after(chain):
    gateway = chain("429:7")
    status, headers, body = chat(gateway)
    error = json.loads(body)["error"]
    assert status == 429 and headers["retry-after"] == "7" and error["type"] == "rate_limit_error"


@pytest.mark.parametrize("fault, expected", [("400", 400), ("404", 404), ("413", 413), ("422", 422)])
def test_a_clients_fault_comes_back_mapped(chain, fault, expected):
    gateway = chain(fault, "")
    status, headers, body = chat(gateway)
    assert status == expected and set(json.loads(body)["error"]) == {"message", "type", "param", "code"}
    assert headers["x-request-id"]


def test_a_concrete_model_keeps_its_errors(chain):
    gateway = chain("500")
    body = {"model": "u0-model+500", "messages": [{"role": "user", "content": QUESTION}]}
    assert gateway.chat(body)[0] == 502
    gateway.stop()
    gateway = chain("401")
    status, _, body = gateway.chat({**body, "model": "u0-model+401"})
    assert status == 502 and b"401" not in body


def test_usage_is_asked_for_but_hidden(chain, fake):
    gateway = chain("")
    told = events(chat(gateway, stream=True)[2])
    assert told[-1] == "[DONE]" and all("usage" not in json.loads(e) or json.loads(e)["usage"] is None for e in told[:-1])
    assert json.loads(fake.last()["body"])["stream_options"] == {"include_usage": True}


@pytest.mark.parametrize("fault", ["no-usage", "json"])
def test_odd_but_whole_answers_are_taken(chain, fault):
    gateway = chain(fault)
    for stream in (False, True):
        status, headers, body = chat(gateway, stream)
        assert (status, headers["x-hengshi-path"]) == (200, "cloud") and b"What" in body


def test_too_many_calls_are_refused_at_once(start, light_config, slow_fake):
    light_config["upstream"] = [upstream(slow_fake, max_concurrent=1, queue=1)]
    light_config["route"] = [route(tiers=[], on_exhausted="503", first_answer="10s")]
    gateway = start(light_config)
    connections = [socket.create_connection(("127.0.0.1", gateway.port), timeout=20) for _ in range(4)]
    for connection in connections:
        send_chat(connection, stream=False)
    statuses = sorted(read_to_end(connection).split()[1] for connection in connections)
    assert statuses == [b"200", b"200", b"503", b"503"]


def test_only_whole_answers_are_cached(chain):
    for fault in ("cut:2", "error-chunk:2"):
        gateway = chain(fault, tiers=["exact"])
        for _ in range(2):
            assert chat(gateway)[1]["x-hengshi-path"] == "unanswered"
        gateway.stop()
    gateway = chain("", tiers=["exact"])
    body = {"model": "hengshi", "messages": [{"role": "user", "content": QUESTION}], "max_tokens": 2}
    for _ in range(2):  # finish_reason length
        assert gateway.chat(body)[1]["x-hengshi-path"] == "cloud"


def send_chat(connection, stream, model="hengshi", version="1.1"):
    body = {"model": model, "messages": [{"role": "user", "content": QUESTION}], "stream": stream}
    connection.sendall(chat_bytes(body, "Connection: close\r\n").replace(b"HTTP/1.1", f"HTTP/{version}".encode(), 1))


def raw_chat(connection, **more):
    send_chat(connection, **more)
    return read_to_end(connection)


@pytest.mark.parametrize("fault, phase, wait_for", [
    ("hang-headers", "before_headers", None),
    ("slow:20000", "before_first_token", None),
    ("stall:3", "mid_stream", b"What"),
])
@pytest.mark.parametrize("stream", [True, False])
def test_a_client_that_leaves_cancels_the_upstream(chain, fake, fault, phase, wait_for, stream):
    gateway = chain(fault, first_answer="30s", between_tokens="30s")
    before = fake.stats()
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=20) as connection:
        send_chat(connection, stream)
        eventually(lambda: fake.stats()["requests"] > before["requests"])
        if stream and wait_for:
            received = b""
            while wait_for not in received:
                received += connection.recv(65536)
        eventually(lambda: fake.stats()["open"][phase] == before["open"][phase] + 1)
        assert fake.stats()["cancelled"] == before["cancelled"]
    eventually(lambda: fake.stats()["cancelled"][phase] == before["cancelled"][phase] + 1)
    assert gateway.request("GET", "/healthz")[0] == 200
