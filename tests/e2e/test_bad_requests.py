"""Whatever bytes a client sends, it gets an error in the OpenAI shape, and the server goes on serving."""
import json
import socket

import pytest

CHAT = {"model": "hengshi", "messages": [{"role": "user", "content": "hi"}]}
ERROR_KEYS = {"message", "type", "param", "code"}


def changed(**fields):
    return {**CHAT, **fields}


def assert_error(status, headers, body, expected_status, param=None, code=None):
    assert status == expected_status, body
    error = json.loads(body)["error"]
    assert set(error) == ERROR_KEYS
    assert error["message"]
    assert headers["x-request-id"]
    assert headers["content-type"].startswith("application/json")
    if param:
        assert error["param"] == param
    if code:
        assert error["code"] == code
    return error


@pytest.mark.parametrize("body", [
    b"", b"{", b"[]", b"null", b"nonsense", b'{"model":"hengshi","messages":[{"role":"user","content":"hi"}]',
    b'{"model":"hengshi"} {"model":"hengshi"}', b'{"model":"hengshi","messages":[{"role":"user","content":"\x01"}]}',
], ids=["empty", "brace", "array", "null", "word", "cut", "two", "control"])
def test_malformed_json_is_400(gateway, body):
    error = assert_error(*gateway.chat(body), 400)
    assert error["type"] == "invalid_request_error"


def test_deeply_nested_json_is_400(gateway):
    deep = '{"model":"hengshi","messages":' + "[" * 200_000 + "]" * 200_000 + "}"
    assert_error(*gateway.chat(deep), 400)
    in_an_unknown_field = json.dumps(CHAT)[:-1] + ',"x":' + "[" * 200_000 + "]" * 200_000 + "}"
    assert_error(*gateway.chat(in_an_unknown_field), 400)


def test_invalid_utf8_is_400(gateway):
    assert_error(*gateway.chat(json.dumps(CHAT).encode().replace(b"hi", b"\xff\xfe")), 400)


@pytest.mark.parametrize("body, param", [
    (changed(messages=[]), "messages"),
    (changed(messages="hi"), "messages"),
    (changed(messages=[{"role": "user", "content": 3}]), "messages[0].content"),
    (changed(messages=[{"role": "wizard", "content": "hi"}]), "messages[0].role"),
    (changed(messages=[{"content": "hi"}]), "messages[0].role"),
    (changed(model=7), "model"),
    ({"messages": CHAT["messages"]}, "model"),
    ({"model": "hengshi"}, "messages"),
    (changed(stream="yes"), "stream"),
    (changed(stream_options={"include_usage": True}), "stream_options"),
    (changed(max_tokens="many"), "max_tokens"),
    (changed(n="two"), "n"),
    (changed(temperature="warm"), "temperature"),
    (changed(top_logprobs=3), "top_logprobs"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_wrong_fields_are_400_and_named(gateway, body, param):
    assert_error(*gateway.chat(body), 400, param=param)


def test_unknown_model_is_404(gateway):
    assert_error(*gateway.chat(changed(model="gpt-none")), 404, param="model", code="model_not_found")


@pytest.mark.parametrize("headers", [{"Authorization": ""}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic eDp5"}])
def test_missing_or_wrong_key_is_401(gateway, headers):
    error = assert_error(*gateway.chat(CHAT, headers=headers), 401, code="invalid_api_key")
    assert "wrong" not in error["message"]
    assert_error(*gateway.request("GET", "/v1/models", headers=headers), 401)
    assert_error(*gateway.request("POST", "/v1/embeddings", b'{"model":"x","input":"y"}', headers), 401)


def test_wrong_content_type_is_415(gateway):
    assert_error(*gateway.chat(CHAT, headers={"Content-Type": "text/plain"}), 415)


def test_unknown_paths_and_methods(gateway):
    assert_error(*gateway.request("GET", "/nothing"), 404)
    assert_error(*gateway.request("POST", "/v1/responses", b"{}"), 404)
    told = gateway.request("GET", "/v1/chat/completions")
    assert_error(*told, 405)
    assert told[1]["allow"] == "POST"


def test_a_whole_url_and_empty_lines_before_a_request(gateway):
    told = raw(gateway, b"\r\n\r\nGET http://some.host:80/healthz HTTP/1.1\r\nHost: x\r\n\r\n")
    assert told[0] == 200 and json.loads(told[2])["product"] == "hengshi"
    assert_error(*raw(gateway, b"\r\n" * 1000), 400)


def test_a_10_mb_body_is_413(gateway):
    text = "x" * (10 << 20)
    try:
        told = gateway.chat(changed(messages=[{"role": "user", "content": text}]))
    except (BrokenPipeError, ConnectionResetError):
        told = raw(gateway, b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: 10485761\r\n\r\n")
    assert_error(*told, 413)


def test_a_large_body_under_the_limit_is_read(gateway):
    status, _, body = gateway.chat(changed(messages=[{"role": "user", "content": "x" * (9 << 20)}], model="gpt-none"))
    assert_error(status, _, body, 404)


def raw(gateway, data, timeout=20):
    """(status, headers, body) of bytes sent as they are; the server must close or answer."""
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=timeout) as connection:
        connection.sendall(data)
        received = b""
        while b"\r\n\r\n" not in received:
            block = connection.recv(65536)
            if not block:
                break
            received += block
        head, _, body = received.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines[1:])}
        while len(body) < int(headers.get("content-length", 0)):
            body += connection.recv(65536)
        return int(lines[0].split()[1]), headers, body


@pytest.mark.parametrize("extra", ["X-Long: " + "y" * 100_000, "\r\n".join(f"X-{i}: {i}" for i in range(10_000))],
                         ids=["one long header", "many headers"])
def test_a_header_flood_is_431(gateway, extra):
    assert_error(*raw(gateway, f"GET /v1/models HTTP/1.1\r\nHost: x\r\n{extra}\r\n\r\n".encode()), 431)


@pytest.mark.parametrize("data", [b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\r\n\r\n",
                                  b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Length: minus\r\n\r\n"],
                         ids=["nonsense", "version", "TLS hello", "length"])
def test_broken_http_is_400(gateway, data):
    assert_error(*raw(gateway, data), 400)


@pytest.mark.parametrize("name, value", [("x-hengshi-deadline-ms", "soon"), ("x-hengshi-deadline-ms", "-5")])
def test_a_bad_deadline_header_is_400(gateway, name, value):
    assert_error(*gateway.chat(CHAT, headers={name: value}), 400, param=name)


def test_request_ids_are_echoed_within_a_limit(gateway):
    for path in ("/healthz", "/readyz", "/metrics", "/nothing", "/v1/models"):
        assert gateway.request("GET", path)[1]["x-request-id"]
    assert gateway.request("GET", "/nothing", headers={"x-request-id": "abc-1"})[1]["x-request-id"] == "abc-1"
    told = gateway.request("GET", "/nothing", headers={"x-request-id": "z" * 5000})[1]["x-request-id"]
    assert len(told) <= 200


def test_the_server_still_serves(gateway):
    assert gateway.request("GET", "/healthz")[0] == 200
    assert gateway.process.poll() is None
