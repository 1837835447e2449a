"""Clients that are slow, half-open, or leave: nothing leaks, nothing blocks the others, the upstream call is cancelled."""
import select
import socket
import time

import pytest
import stack
from conftest import read_to_end

HEAD = b"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nAuthorization: Bearer %s\r\n"


@pytest.fixture
def impatient(start, light_config):
    light_config["server"] = {"header_timeout": "300ms", "body_timeout": "300ms", "idle_timeout": "400ms", "write_timeout": "1s"}
    return start(light_config)


def connect(gateway):
    return socket.create_connection(("127.0.0.1", gateway.port), timeout=15)


def test_a_slow_head_gets_408(impatient):
    with connect(impatient) as connection:
        connection.sendall(b"GET /healthz HT")
        assert b" 408 " in read_to_end(connection).split(b"\r\n")[0]


def test_a_slow_body_gets_408(impatient):
    with connect(impatient) as connection:
        connection.sendall(HEAD % stack.KEY.encode() + b"Content-Length: 100\r\n\r\n{")
        told = read_to_end(connection)
        assert b" 408 " in told.split(b"\r\n")[0] and b'"error"' in told and b"x-request-id" in told.lower()


def test_a_drip_does_not_keep_a_connection(impatient):
    with connect(impatient) as connection:
        started = time.monotonic()
        for byte in b"GET /healthz HTTP/1.1\r\nX-Drip: " + b"a" * 1000:
            try:
                connection.sendall(bytes([byte]))
            except OSError:
                break
            select.select([connection], [], [], 0.05)  # Until the next byte, or until it is told.
            assert time.monotonic() - started < 10
        assert time.monotonic() - started < 5


def test_a_silent_connection_is_closed(impatient):
    with connect(impatient) as connection:
        assert read_to_end(connection) == b""


def test_a_half_open_client_still_gets_its_answer(impatient):
    with connect(impatient) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.shutdown(socket.SHUT_WR)
        assert b" 200 " in read_to_end(connection).split(b"\r\n")[0]


def test_many_slow_clients_do_not_block_the_others(impatient):
    slow = [connect(impatient) for _ in range(200)]
    for connection in slow:
        connection.sendall(b"POST /v1/chat/completions HTTP/1.1\r\n")
    started = time.monotonic()
    assert impatient.request("GET", "/healthz")[0] == 200
    assert time.monotonic() - started < 1
    for connection in slow:
        connection.close()


def test_keep_alive_and_pipelining(impatient):
    with connect(impatient) as connection:
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n" * 2 + b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        assert read_to_end(connection).count(b"HTTP/1.1 200") == 3
