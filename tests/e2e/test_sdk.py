"""The official OpenAI Python SDK, unchanged but for base_url."""
import asyncio
import base64

import openai
import pytest
from stack import KEY

LIGHT_QUESTION = "How do I create an account?"


def ask(client, text, **more):
    return client.chat.completions.create(model="hengshi", messages=[{"role": "user", "content": text}], **more)


def test_chat(client):
    answer = ask(client, LIGHT_QUESTION)
    assert answer.object == "chat.completion" and answer.id.startswith("chatcmpl-")
    assert answer.choices[0].message.role == "assistant" and answer.choices[0].message.content
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens > 0
    assert answer.model_extra["hengshi"]["path"] in ("light", "cache.exact")


def test_stream_equals_the_whole_answer(client):
    for question in (LIGHT_QUESTION, "用一句话介绍一下长江三峡的历史"):
        whole = ask(client, question)
        chunks = list(ask(client, question, stream=True, stream_options={"include_usage": True}))
        assert "".join(c.choices[0].delta.content or "" for c in chunks if c.choices) == whole.choices[0].message.content
        assert {c.id for c in chunks} == {chunks[0].id} and {c.created for c in chunks} == {chunks[0].created}
        assert [c.choices[0].delta.role for c in chunks if c.choices and c.choices[0].delta.role] == ["assistant"]
        assert [c.choices[0].finish_reason for c in chunks if c.choices and c.choices[0].finish_reason] == ["stop"]
        assert not chunks[-1].choices and chunks[-1].usage == whole.usage
        assert all(c.usage is None for c in chunks[:-1])


def test_stream_without_usage_has_none(client):
    for question in (LIGHT_QUESTION, "What is the capital of a country of your choice?"):
        chunks = list(ask(client, question, stream=True))
        assert all(c.choices and c.usage is None for c in chunks)
        assert chunks[0].model_extra["hengshi"]["path"]


@pytest.mark.parametrize("text", ["How do I connect to Wi-Fi?", "怎么连接WiFi"])
def test_embeddings(client, text):
    model = [m.id for m in client.models.list() if "bge" in m.id or "minilm" in m.id]
    assert len(model) == 2
    for name in model:
        default = client.embeddings.create(model=name, input=text)  # The SDK asks for base64 and decodes it.
        floats = client.embeddings.create(model=name, input=[text, "another"], encoding_format="float")
        assert default.data[0].embedding == pytest.approx(floats.data[0].embedding, abs=1e-6)
        assert sum(x * x for x in default.data[0].embedding) == pytest.approx(1, abs=1e-3)
        assert [d.index for d in floats.data] == [0, 1] and floats.usage.prompt_tokens > 0
        raw = client.embeddings.with_raw_response.create(model=name, input=text, encoding_format="base64").http_response
        assert len(base64.b64decode(raw.json()["data"][0]["embedding"])) == 4 * len(default.data[0].embedding)


def test_token_ids_must_be_of_the_models_vocabulary(client):
    name = next(m.id for m in client.models.list() if "minilm" in m.id)
    text = "How do I connect to Wi-Fi?"
    ids = [101, 2129, 2079, 1045, 7532, 2000, 15536, 1011, 10882, 1029, 102]
    by_ids, by_text = client.embeddings.create(model=name, input=[ids]), client.embeddings.create(model=name, input=text)
    assert by_ids.data[0].embedding == pytest.approx(by_text.data[0].embedding, abs=1e-6)
    with pytest.raises(openai.BadRequestError) as caught:
        client.embeddings.create(model=name, input=[ids, [101, 30522, 102]])
    assert caught.value.param == "input[1][1]"


def test_models(client):
    names = [m.id for m in client.models.list()]
    assert "hengshi" in names
    assert client.models.retrieve("hengshi").object == "model"
    with pytest.raises(openai.NotFoundError) as caught:
        client.models.retrieve("none")
    assert caught.value.code == "model_not_found"


def test_errors_become_the_sdks_exceptions(client, gateway, limited_key):
    with pytest.raises(openai.AuthenticationError) as caught:
        ask(client.with_options(api_key="sk-wrong"), "hi")
    assert caught.value.code == "invalid_api_key" and caught.value.request_id
    with pytest.raises(openai.NotFoundError) as caught:
        client.chat.completions.create(model="none", messages=[{"role": "user", "content": "hi"}])
    assert caught.value.param == "model"
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="hengshi", messages=[])
    assert caught.value.param == "messages"
    limited = client.with_options(api_key=limited_key)
    with pytest.raises(openai.RateLimitError) as caught:
        for _ in range(5):
            limited.models.list()
    assert int(caught.value.response.headers["retry-after"]) >= 1
    assert caught.value.response.headers["x-ratelimit-limit-requests"] == "2"
    assert caught.value.response.headers["x-ratelimit-remaining-requests"] == "0"


TOOLS = [{"type": "function", "function": {"name": "get_weather", "strict": True, "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"], "additionalProperties": False}}}]


def test_tools_reach_the_upstream_and_come_back(client):
    answer = ask(client, LIGHT_QUESTION, tools=TOOLS, tool_choice="required", parallel_tool_calls=False)
    assert answer.model_extra["hengshi"]["path"] == "cloud"  # No local tier answers a request with tools.
    call = answer.choices[0].message.tool_calls[0]
    assert call.type == "function" and call.function.name == "get_weather" and call.id
    assert answer.choices[0].finish_reason == "tool_calls" and answer.choices[0].message.content is None


def test_tools_in_a_stream(client):
    chunks = list(ask(client, LIGHT_QUESTION, tools=TOOLS, tool_choice="required", stream=True, user="streams"))
    calls = [call for c in chunks if c.choices for call in c.choices[0].delta.tool_calls or []]
    assert calls[0].id and calls[0].function.name == "get_weather" and all(call.index == 0 for call in calls)
    assert all(not call.id for call in calls[1:])
    assert "".join(call.function.arguments or "" for call in calls).startswith("{")
    assert chunks[-1].choices[0].finish_reason == "tool_calls"


def test_async_client(async_client):
    async def run():
        answers = await asyncio.gather(*(async_client.chat.completions.create(
            model="hengshi", messages=[{"role": "user", "content": LIGHT_QUESTION}]) for _ in range(8)))
        stream = await async_client.chat.completions.create(
            model="hengshi", messages=[{"role": "user", "content": LIGHT_QUESTION}], stream=True)
        text = "".join([c.choices[0].delta.content or "" async for c in stream])
        await async_client.close()
        return answers, text
    answers, text = asyncio.run(run())
    assert {a.choices[0].message.content for a in answers} == {text}


def test_raw_headers(client):
    raw = client.chat.completions.with_raw_response.create(
        model="hengshi", messages=[{"role": "user", "content": LIGHT_QUESTION}], extra_headers={"X-Request-Id": "mine-1"})
    assert raw.headers["x-request-id"] == "mine-1"
    assert raw.headers["x-hengshi-path"] in ("light", "cache.exact")
    assert raw.parse().choices[0].message.content


def test_the_extension_can_be_opted_out_of(client):
    answer = ask(client, LIGHT_QUESTION, extra_body={"hengshi": False})
    assert "hengshi" not in (answer.model_extra or {})


def test_the_key_in_the_environment_is_all_it_needs(gateway, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", gateway.base_url)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with openai.OpenAI() as client:
        assert ask(client, LIGHT_QUESTION).choices[0].message.content
