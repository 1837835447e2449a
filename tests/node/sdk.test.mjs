// The official OpenAI Node SDK, unchanged but for baseURL. run.py starts the server and says where it is.
import assert from "node:assert/strict";
import test from "node:test";
import OpenAI from "openai";

const { HENGSHI_URL: baseURL, HENGSHI_KEY: apiKey, HENGSHI_LIMITED_KEY: limitedKey } = process.env;
const client = new OpenAI({ baseURL, apiKey, maxRetries: 0 });
const LIGHT_QUESTION = "How do I create an account?";

const ask = (content, more = {}, options = {}) =>
  client.chat.completions.create({ model: "hengshi", messages: [{ role: "user", content }], ...more }, options);

async function collect(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

const textOf = (chunks) => chunks.map((c) => c.choices[0]?.delta.content ?? "").join("");

test("chat", async () => {
  const answer = await ask(LIGHT_QUESTION);
  assert.equal(answer.object, "chat.completion");
  assert.match(answer.id, /^chatcmpl-/);
  assert.equal(answer.choices[0].message.role, "assistant");
  assert.ok(answer.choices[0].message.content.length > 0);
  assert.equal(answer.choices[0].finish_reason, "stop");
  assert.equal(answer.usage.total_tokens, answer.usage.prompt_tokens + answer.usage.completion_tokens);
  assert.equal(answer.hengshi.path, "light");
});

for (const question of [LIGHT_QUESTION, "请为我讲一讲敦煌莫高窟壁画的故事"]) {
  test(`stream equals the whole answer: ${question}`, async () => {
    const whole = await ask(question);
    const chunks = await collect(await ask(question, { stream: true, stream_options: { include_usage: true } }));
    assert.equal(textOf(chunks), whole.choices[0].message.content);
    assert.equal(new Set(chunks.map((c) => c.id)).size, 1);
    assert.deepEqual(chunks.at(-1).choices, []);
    assert.deepEqual(chunks.at(-1).usage, whole.usage);
    assert.ok(chunks.slice(0, -1).every((c) => c.usage === null));
  });
}

test("a stream that was not asked for usage has none", async () => {
  const chunks = await collect(await ask(LIGHT_QUESTION, { stream: true }));
  assert.ok(chunks.every((c) => c.choices.length === 1 && !c.usage));
});

test("the stream helper assembles the answer", async () => {
  const runner = client.chat.completions.stream({
    model: "hengshi",
    messages: [{ role: "user", content: LIGHT_QUESTION }],
  });
  const final = await runner.finalChatCompletion();
  assert.equal(final.choices[0].message.content, (await ask(LIGHT_QUESTION)).choices[0].message.content);
});

test("embeddings, base64 by default and float", async () => {
  const models = (await collect(await client.models.list())).map((m) => m.id).filter((id) => /bge|minilm/.test(id));
  assert.equal(models.length, 2);
  for (const model of models) {
    const decoded = await client.embeddings.create({ model, input: ["怎么连接WiFi", "hello"] });
    const floats = await client.embeddings.create({ model, input: ["怎么连接WiFi", "hello"], encoding_format: "float" });
    assert.deepEqual(decoded.data.map((d) => d.index), [0, 1]);
    for (const [i, row] of decoded.data.entries()) {
      assert.equal(row.embedding.length, floats.data[i].embedding.length);
      row.embedding.forEach((x, at) => assert.ok(Math.abs(x - floats.data[i].embedding[at]) < 1e-6));
    }
    assert.ok(decoded.usage.prompt_tokens > 0);
  }
});

test("models", async () => {
  assert.ok((await collect(await client.models.list())).some((m) => m.id === "hengshi"));
  assert.equal((await client.models.retrieve("hengshi")).object, "model");
  await assert.rejects(client.models.retrieve("none"), (e) => e instanceof OpenAI.NotFoundError && e.code === "model_not_found");
});

test("errors become the SDK's exceptions", async () => {
  const wrong = new OpenAI({ baseURL, apiKey: "sk-wrong", maxRetries: 0 });
  await assert.rejects(wrong.models.list(), (e) => e instanceof OpenAI.AuthenticationError && e.code === "invalid_api_key");
  await assert.rejects(ask("hi", { model: "none" }), (e) => e instanceof OpenAI.NotFoundError && e.param === "model");
  await assert.rejects(ask("hi", { messages: [] }), (e) => e instanceof OpenAI.BadRequestError && e.param === "messages");
  const limited = new OpenAI({ baseURL, apiKey: limitedKey, maxRetries: 0 });
  await assert.rejects(
    async () => { for (let i = 0; i < 5; i++) await limited.models.list(); },
    (e) => e instanceof OpenAI.RateLimitError && Number(e.headers["retry-after"] ?? e.headers.get?.("retry-after")) >= 1);
});

const tools = [{
  type: "function",
  function: { name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } } } },
}];

test("tools reach the upstream and come back", async () => {
  const answer = await ask(LIGHT_QUESTION, { tools, tool_choice: "required" });
  assert.equal(answer.hengshi.path, "cloud");
  assert.equal(answer.choices[0].message.tool_calls[0].function.name, "get_weather");
  assert.equal(answer.choices[0].finish_reason, "tool_calls");
});

test("raw headers", async () => {
  const { data, response } = await ask(LIGHT_QUESTION, {}, { headers: { "x-request-id": "mine-2" } }).withResponse();
  assert.equal(response.headers.get("x-request-id"), "mine-2");
  assert.ok(["light", "cache.exact"].includes(response.headers.get("x-hengshi-path")));
  assert.ok(data.choices[0].message.content);
});

test("leaving a stream", async () => {
  const stream = await ask(LIGHT_QUESTION, { stream: true });
  for await (const chunk of stream) {
    assert.ok(chunk.id);
    break;
  }
  stream.controller.abort();
  assert.ok((await ask(LIGHT_QUESTION)).choices[0].message.content);
});
