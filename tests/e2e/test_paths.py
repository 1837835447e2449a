"""One test per path a request can take, and what every answer promises in its headers and its body."""
import json
import uuid

import pytest
import stack
from conftest import eventually, full_config, route, upstream

LIGHT = {"zh": "怎么注册账号", "en": "How do I create an account?"}


def fresh(text):
    """A question no cache has seen and no local tier knows."""
    return f"{text} ({uuid.uuid4().hex})"


def ask_and_keep(gateway, question):
    """Asks, and waits until similar questions find the answer: the cache's writer takes it in beside the request."""
    before = gateway.metric("hengshi_cache_inserted_total")
    assert gateway.ask(question)[0]["x-hengshi-path"] == "cloud"
    eventually(lambda: gateway.metric("hengshi_cache_inserted_total") > before)


def assert_promises(headers, body, path):
    assert headers["x-hengshi-path"] == path
    for name in ("x-request-id", "x-hengshi-decision"):
        assert headers[name], name
    if path != "unanswered":
        assert headers["x-hengshi-model"]
    told = body["hengshi"]
    assert told["path"] == path and told["decision"] == headers["x-hengshi-decision"]
    if "x-hengshi-confidence" in headers:
        assert float(headers["x-hengshi-confidence"]) == pytest.approx(told["confidence"], abs=1e-3)
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_cloud_then_exact(gateway):
    question = fresh("Tell me about the moons of Jupiter and how they were found")
    headers, first = gateway.ask(question, user="u1")
    assert_promises(headers, first, "cloud")
    assert headers["x-hengshi-model"] == "fake/fake-model" and first["hengshi"]["cost_micro_usd"] > 0
    headers, second = gateway.ask(question, user="u1")
    assert_promises(headers, second, "cache.exact")
    assert int(headers["x-hengshi-cache-age"]) >= 0
    assert second["choices"] == first["choices"] and second["id"] != first["id"]
    assert second["hengshi"]["saved"]["tokens"] > 0 and second["hengshi"].get("cost_micro_usd", 0) == 0


def test_equal_json_in_another_order_is_the_same_request(gateway):
    question = fresh("Why do leaves turn red in autumn")
    gateway.ask(question, temperature=0.5, seed=3)
    body = {"seed": 3, "messages": [{"content": question, "role": "user"}], "temperature": 0.5, "model": "hengshi"}
    assert gateway.chat(body)[1]["x-hengshi-path"] == "cache.exact"
    assert gateway.chat({**body, "seed": 4})[1]["x-hengshi-path"] != "cache.exact"


@pytest.mark.parametrize("first, second", [
    ("请介绍一下黄山有哪些著名的景点", "请介绍一下黄山有哪些有名的景点"),
    ("What are the most famous sights of the Yellow Mountain", "What are the most famous sights in the Yellow Mountain"),
])
def test_semantic(gateway, first, second):
    ask_and_keep(gateway, first)
    headers, body = gateway.ask(second)
    assert_promises(headers, body, "cache.semantic")
    assert float(headers["x-hengshi-confidence"]) >= float(headers["x-hengshi-threshold"])


@pytest.mark.parametrize("first, second", [
    ("三亚的酒店住2晚要多少预算", "三亚的酒店住5晚要多少预算"),
    ("Can I eat mangoes while taking aspirin every day", "Can I not eat mangoes while taking aspirin every day"),
])
def test_semantic_guards(gateway, first, second):
    ask_and_keep(gateway, first)
    assert gateway.ask(second)[0]["x-hengshi-path"] != "cache.semantic"


def test_rule(gateway):
    headers, body = gateway.ask("When are shops open?")
    assert_promises(headers, body, "rule")
    assert body["choices"][0]["message"]["content"] == "shops is open from 9 to 18."
    assert headers["x-hengshi-model"] == "rule/opening_hours"


def test_a_rule_that_routes(gateway):
    headers, body = gateway.ask(fresh("Please use the second model"))
    assert_promises(headers, body, "cloud")
    assert headers["x-hengshi-model"] == "second/second-model"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_light(gateway, language):
    headers, body = gateway.ask(LIGHT[language], user=uuid.uuid4().hex)
    assert_promises(headers, body, "light")
    assert headers["x-hengshi-model"].startswith("light/")
    assert float(headers["x-hengshi-confidence"]) >= float(headers["x-hengshi-threshold"])
    assert body["usage"]["prompt_tokens"] > 0 and body["usage"]["completion_tokens"] > 0


@pytest.mark.parametrize("field", [
    {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]},
    {"n": 2}, {"logprobs": True}, {"response_format": {"type": "json_object"}},
    {"messages": [{"role": "system", "content": "You are a pirate."}, {"role": "user", "content": LIGHT["en"]}]},
    {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "Hello."},
                  {"role": "user", "content": LIGHT["en"]}]},
    {"messages": [{"role": "user", "content": [{"type": "text", "text": LIGHT["en"]},
                                               {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}]}]},
], ids=["tools", "n", "logprobs", "json", "system", "history", "image"])
def test_what_a_local_tier_cannot_honour_goes_to_the_cloud(gateway, field):
    body = {"model": "hengshi", "messages": [{"role": "user", "content": LIGHT["en"]}], "user": uuid.uuid4().hex, **field}
    status, headers, _ = gateway.chat(body)
    assert (status, headers["x-hengshi-path"]) == (200, "cloud")


def test_bypassing_the_cache(gateway):
    question = fresh("How deep is the Baikal lake")
    gateway.ask(question)
    for headers in ({"Cache-Control": "no-cache"}, {"x-hengshi-cache": "bypass"}, {"Cache-Control": "no-store"}):
        assert gateway.ask(question, headers=headers)[0]["x-hengshi-path"] == "cloud"
    unseen = fresh("How deep is the Titicaca lake")
    gateway.ask(unseen, headers={"Cache-Control": "no-store"})
    assert gateway.ask(unseen)[0]["x-hengshi-path"] == "cloud"


def test_scopes_do_not_see_each_other(start, light_config):
    light_config["route"] = [route(tiers=["exact"], scope="user")]
    light_config["key"].append({"name": "other", "tenant": "other", "sha256": stack.sha256_of("sk-other")})
    gateway = start(light_config)
    body = {"model": "hengshi", "messages": [{"role": "user", "content": "What is mine?"}], "user": "u1"}
    path = lambda **more: gateway.chat({**body, **more.pop("body", {})}, **more)[1]["x-hengshi-path"]
    assert path() == "cloud" and path() == "cache.exact"
    assert path(body={"user": "u2"}) == "cloud"
    assert path(key="sk-other") == "cloud"


def test_personal_data_is_not_shared_with_the_tenant(gateway):
    question = fresh("Where is my order 5550123456789")
    gateway.ask(question, user="u1")
    assert gateway.ask(question, user="u1")[0]["x-hengshi-path"] == "cache.exact"
    assert gateway.ask(question, user="u2")[0]["x-hengshi-path"] == "cloud"


def dead_config(artifacts, folder, **more):
    """No upstream answers: nothing listens where the config says."""
    config = full_config("http://127.0.0.1:9/v1", artifacts, folder)
    config["route"] = [route(light_threshold=1.0, **more)]
    config["rules"] = {}
    return config


@pytest.mark.parametrize("notice, expected", [("text", True), ("header", False)])
def test_degraded(start, artifacts, tmp_path, notice, expected):
    gateway = start(dead_config(artifacts, tmp_path, notice=notice))
    headers, body = gateway.ask(LIGHT["en"])
    assert_promises(headers, body, "degraded.3")
    assert headers["x-hengshi-degraded"] and body["hengshi"]["degraded"]
    assert ("unavailable" in body["choices"][0]["message"]["content"]) is expected


@pytest.mark.parametrize("question, word", [("请写一首关于春天的长诗", "抱歉"), ("Write a long poem about spring", "Sorry")])
def test_unanswered_is_an_honest_200(start, artifacts, tmp_path, question, word):
    gateway = start(dead_config(artifacts, tmp_path))
    for stream in (False, True):
        status, headers, body = gateway.chat(
            {"model": "hengshi", "messages": [{"role": "user", "content": question}], "stream": stream})
        assert (status, headers["x-hengshi-path"]) == (200, "unanswered")
        assert word in body.decode() and '"answered":false' in body.decode().replace(" ", "")


def test_503_when_the_route_prefers_it(start, artifacts, tmp_path):
    gateway = start(dead_config(artifacts, tmp_path, on_exhausted="503"))
    status, headers, body = gateway.chat({"model": "hengshi", "messages": [{"role": "user", "content": "Write a long poem"}]})
    assert status == 503 and int(headers["retry-after"]) >= 1 and headers["x-request-id"]
    assert set(json.loads(body)["error"]) == {"message", "type", "param", "code"}
    assert gateway.ask(LIGHT["en"])[0]["x-hengshi-path"] == "degraded.3"


def test_no_upstream_configured_answers_without_waiting(start, light_config):
    light_config.update(upstream=[], route=[route(upstreams=[], tiers=["exact"])])
    headers, body = start(light_config).ask("Anything?")
    assert headers["x-hengshi-path"] == "unanswered" and body["hengshi"]["answered"] is False


def test_a_concrete_model_is_that_model(gateway):
    headers, body = gateway.ask(LIGHT["en"], model="second-model")
    assert headers["x-hengshi-path"] == "cloud" and headers["x-hengshi-model"] == "second/second-model"
    assert body["model"] == "second-model"


def test_each_path_is_counted_once(start, light_config):
    gateway = start(light_config)
    for path in ("cloud", "cache.exact"):
        assert gateway.ask("Who counts this?")[0]["x-hengshi-path"] == path
    counted = lambda path: gateway.metric(f'hengshi_requests_total{{tenant="acme",path="{path}"}}')
    eventually(lambda: counted("cloud") and counted("cache.exact"))  # An answer is counted once it has left.
    assert counted("cloud") == counted("cache.exact") == 1 and gateway.metric("hengshi_requests_total{") == 2
