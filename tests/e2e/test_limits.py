"""Rates, keys, deadlines and what is passed on to the upstream."""
import json
import time

import pytest
import stack
from conftest import eventually, key, route, upstream

QUESTION = {"model": "hengshi", "messages": [{"role": "user", "content": "How many are too many?"}]}


def test_requests_per_minute(start, light_config):
    light_config["key"].append(key("sk-two", requests_per_minute=2))
    gateway = start(light_config)
    first = gateway.chat(QUESTION, key="sk-two")
    assert first[0] == 200 and first[1]["x-ratelimit-limit-requests"] == "2" and first[1]["x-ratelimit-remaining-requests"] == "1"
    assert gateway.chat(QUESTION, key="sk-two")[0] == 200
    status, headers, body = gateway.chat(QUESTION, key="sk-two")
    error = json.loads(body)["error"]
    assert status == 429 and 1 <= int(headers["retry-after"]) <= 60 and error["type"] == "rate_limit_error"
    assert headers["x-ratelimit-remaining-requests"] == "0" and headers["x-ratelimit-reset-requests"]
    assert "2" in error["message"] and "minute" in error["message"]  # Which limit, and whose.
    assert gateway.chat(QUESTION)[0] == 200  # Another key is not touched,
    assert gateway.request("GET", "/v1/models", headers={"Authorization": "Bearer sk-two"})[0] == 429  # another endpoint is.


def test_tokens_per_minute(start, light_config):
    light_config["key"].append(key("sk-tok", tokens_per_minute=5))
    gateway = start(light_config)
    assert gateway.chat(QUESTION, key="sk-tok")[0] == 200
    eventually(lambda: gateway.chat(QUESTION, key="sk-tok")[0] == 429)  # Tokens are paid once the answer has left.
    status, headers, body = gateway.chat(QUESTION, key="sk-tok")
    assert status == 429 and b"token" in body and headers["x-ratelimit-limit-tokens"] == "5"


def test_a_reload_never_refills_a_bucket(start, light_config):
    light_config["key"].append(key("sk-one", requests_per_minute=1))
    gateway = start(light_config)
    assert gateway.chat(QUESTION, key="sk-one")[0] == 200
    gateway.reload()
    eventually(lambda: "reloaded" in gateway.log())
    assert gateway.chat(QUESTION, key="sk-one")[0] == 429


def test_the_deadline_header_shortens(start, light_config, fake):
    light_config["upstream"] = [upstream(fake, "stall", model="fake-model+stall")]
    light_config["route"] = [route(upstreams=["stall"], tiers=[])]
    gateway = start(light_config)
    started = time.monotonic()
    headers, _ = gateway.ask("Is there time?", headers={"x-hengshi-deadline-ms": "200"})
    assert headers["x-hengshi-path"] == "unanswered" and time.monotonic() - started < 0.6
    started = time.monotonic()
    assert gateway.ask("Is there time?", headers={"x-hengshi-deadline-ms": "60000"})[0]["x-hengshi-path"] == "unanswered"
    assert 1.3 < time.monotonic() - started < 2.2  # It may not lengthen the route's 1.5 s.


def test_the_traceparent_and_request_id_are_passed_on(start, light_config, fake):
    gateway = start(light_config)
    trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    gateway.ask("Who is traced?", headers={"traceparent": trace, "x-request-id": "trace-me"})
    headers = fake.last()["headers"]
    assert headers["traceparent"].split("-")[1] == trace.split("-")[1]
    assert headers["x-request-id"] == "trace-me"
    assert stack.KEY not in json.dumps(fake.last())  # The client's key goes nowhere.


def test_the_upstreams_key_comes_from_the_environment(start, light_config, fake):
    light_config["upstream"][0]["api_key_env"] = "TEST_PROVIDER_KEY"
    gateway = start(light_config, env={"TEST_PROVIDER_KEY": "sk-provider-secret"})
    gateway.ask("Who pays?")
    assert fake.last()["headers"]["authorization"] == "Bearer sk-provider-secret"
    assert "sk-provider-secret" not in gateway.log()


@pytest.mark.parametrize("body", [
    '{"model":"hengshi", "messages" : [ {"role":"user","content":"Stay \\u4f60 as\\u0020you are"} ],"x_new":{"b":1.50,"a":[1e3]}, "temperature":0.10}',
    '{"x":9007199254740993,"messages":[{"content":[{"type":"text","text":"é ☃ 😀","cache_control":{"type":"ephemeral"}}],"role":"user"}],"model":"hengshi","seed":-1}',
], ids=["spaces and escapes", "numbers and parts"])
def test_the_body_is_forwarded_byte_for_byte(start, light_config, fake, body):
    gateway = start(light_config)
    assert gateway.chat(body)[0] == 200
    sent = fake.last()["body"]
    before, after = body.split('"hengshi"')  # All but the model's name and what streaming takes stays as it was.
    assert before in sent or before.lstrip("{") in sent
    assert after.rstrip("}") in sent
    assert json.loads(sent)["model"] == "fake-model" and json.loads(sent)["stream"] is True
