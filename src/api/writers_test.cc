#include <gtest/gtest.h>

#include <string>

#include "api/chat.h"
#include "api/embeddings.h"
#include "api/errors.h"
#include "api/models.h"

namespace hengshi::api {
namespace {

TEST(Errors, AllFourKeysAreThere) {
  EXPECT_EQ(
      write_error({ErrorCode::kInvalidRequest, "a \"b\"", "messages[0].role", "invalid_value"}),
      R"({"error":{"message":"a \"b\"","type":"invalid_request_error","param":"messages[0].role","code":"invalid_value"}})");
  EXPECT_EQ(write_error({ErrorCode::kInternal, "x"}),
            R"({"error":{"message":"x","type":"api_error","param":null,"code":null}})");
  EXPECT_EQ(write_error({ErrorCode::kRateLimited, "x", "", "insufficient_quota"}),
            R"({"error":{"message":"x","type":"insufficient_quota","param":null,"code":"insufficient_quota"}})");
}

TEST(Models, ListAndOne) {
  EXPECT_EQ(write_model({"m", "hengshi", 5}), R"({"id":"m","object":"model","created":5,"owned_by":"hengshi"})");
  EXPECT_EQ(write_models({}), R"({"object":"list","data":[]})");
  EXPECT_EQ(write_models({{"a", "o", 1}, {"b", "o", 2}}),
            R"({"object":"list","data":[{"id":"a","object":"model","created":1,"owned_by":"o"},)"
            R"({"id":"b","object":"model","created":2,"owned_by":"o"}]})");
}

TEST(Embeddings, FloatsInOrder) {
  EXPECT_EQ(
      write_embeddings("m", {{1.0F, -0.5F}, {}}, false, 3),
      R"({"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,-0.5]},)"
      R"({"object":"embedding","index":1,"embedding":[]}],"model":"m","usage":{"prompt_tokens":3,"total_tokens":3}})");
}

TEST(Embeddings, Base64IsLittleEndianFloat32) {
  // 1.0f is 00 00 80 3F, -2.0f 00 00 00 C0.
  EXPECT_NE(write_embeddings("m", {{1.0F}}, true, 1).find(R"("embedding":"AACAPw==")"), std::string::npos);
  EXPECT_NE(write_embeddings("m", {{1.0F, -2.0F}}, true, 1).find(R"("embedding":"AACAPwAAAMA=")"), std::string::npos);
  EXPECT_NE(write_embeddings("m", {{1.0F, -2.0F, 1.0F}}, true, 1).find(R"("embedding":"AACAPwAAAMAAAIA/")"),
            std::string::npos);
}

TEST(Completion, TextIsOneFinishedMessage) {
  const Completion completion = text_completion("m", "a\n\"你\"", {});
  EXPECT_EQ(completion.choices,
            R"([{"index":0,"message":{"role":"assistant","content":"a\n\"你\"","refusal":null,"annotations":[]},)"
            R"("logprobs":null,"finish_reason":"stop"}])");
  EXPECT_EQ(text_of(completion), "a\n\"你\"");
  EXPECT_TRUE(complete(completion));
}

TEST(Completion, BrokenChoicesAreNotComplete) {
  EXPECT_FALSE(complete({"m", "", {}}));
  EXPECT_FALSE(complete({"m", "[]", {}}));
  EXPECT_FALSE(complete({"m", R"([{"finish_reason":null}])", {}}));
  EXPECT_FALSE(complete({"m", R"([{"finish_reason":"stop"},{"finish_reason":"length"}])", {}}));
  EXPECT_EQ(text_of({"m", "[{]", {}}), "");
}

TEST(Completion, ExtensionLeavesOutWhatIsAbsent) {
  Extension extension{.path = "cache.semantic",
                      .model = "bge",
                      .decision = "d",
                      .confidence = 0.93127,
                      .threshold = 0.9,
                      .asks = "order_id",
                      .cache_age_s = 0,
                      .degraded = "upstream_timeout",
                      .answered = false,
                      .saved_tokens = 12,
                      .cost_micro_usd = 3,
                      .total_us = 40};
  std::string out;
  write_completion(out, "id", 1, text_completion("m", "x", {}), &extension);
  const std::string_view all =
      R"("hengshi":{"path":"cache.semantic","model":"bge","decision":"d","confidence":0.9313,"threshold":0.9,"asks":"order_id","cache_age_s":0,)"
      R"("degraded":"upstream_timeout","answered":false,"saved":{"tokens":12},"cost_micro_usd":3,"total_us":40}})";
  EXPECT_TRUE(out.ends_with(all)) << out;
  out.clear();
  write_completion(out, "id", 1, text_completion("m", "x", {}), nullptr);
  EXPECT_EQ(out.find("hengshi"), std::string::npos);
}

TEST(ChunkWriter, NothingFollowsAnError) {
  ChunkWriter writer("id", 1, "m", true);
  std::string out;
  const auto failed = writer.relay(out, R"({"error":{"message":"boom"}})", nullptr);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUpstream);
  EXPECT_TRUE(writer.relay(out, R"({"choices":[{"index":0,"delta":{"content":"x"}}]})", nullptr));
  EXPECT_EQ(out, "");
  ChunkWriter::error(out, failed.error());
  EXPECT_EQ(out, "data: {\"error\":{\"message\":\"boom\",\"type\":\"api_error\",\"param\":null,\"code\":null}}\n\n");
}

TEST(ChunkWriter, OwnUsageComesOnceAndOnlyWhenAsked) {
  const std::string_view upstreams = R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}})";
  std::string out;
  ChunkWriter(std::string("id"), 1, "m", false).usage(out, {}, nullptr);
  EXPECT_EQ(out, "");
  ChunkWriter sent("id", 1, "m", true);
  EXPECT_TRUE(sent.relay(out, upstreams, nullptr));
  const size_t size = out.size();
  EXPECT_GT(size, 0U);
  sent.usage(out, {}, nullptr);
  EXPECT_EQ(out.size(), size);
  ChunkWriter owing("id", 1, "m", true);
  owing.usage(out, {.prompt = 2, .completion = 3, .estimated = true}, nullptr);
  EXPECT_NE(out.find(R"("choices":[],"usage":{"prompt_tokens":2,"completion_tokens":3,"total_tokens":5)"),
            std::string::npos);
}

TEST(ChunkWriter, AnUnreadableStoredAnswerIsAnErrorEvent) {
  std::string out;
  ChunkWriter(std::string("id"), 1, "m", false).replay(out, {"m", "[{torn", {}}, nullptr);
  EXPECT_TRUE(out.starts_with("data: {\"error\":")) << out;
  EXPECT_EQ(out.find("[DONE]"), std::string::npos);
}

TEST(Assembler, TellsWhatCame) {
  Assembler assembler;
  EXPECT_FALSE(assembler.add(R"({"choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})")->visible);
  EXPECT_FALSE(assembler.add(R"({"choices":[{"index":0,"delta":{"reasoning_content":"hm"}}]})")->visible);
  EXPECT_TRUE(assembler.add(R"({"choices":[{"index":0,"delta":{"content":"x"}}]})")->visible);
  EXPECT_TRUE(assembler.add(R"({"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c"}]}}]})")->visible);
  EXPECT_FALSE(assembler.finished());
  EXPECT_TRUE(assembler.add(R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})")->finished);
  EXPECT_TRUE(assembler.finished());
  EXPECT_FALSE(assembler.has_usage());
  EXPECT_TRUE(assembler.add(R"({"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1}})")->usage_only);
  EXPECT_TRUE(assembler.has_usage());
  EXPECT_EQ(assembler.text(), "x");
}

TEST(Assembler, AnAnswerThatDoesNotEndIsCutOff) {
  Assembler assembler;
  const std::string chunk =
      R"({"choices":[{"index":0,"delta":{"content":")" + std::string(1 << 20, 'x') + R"("},"finish_reason":null}]})";
  int taken = 0;
  while (assembler.add(chunk)) ASSERT_LT(++taken, 17);
  EXPECT_EQ(taken, 15);
}

TEST(Assembler, StaysFailed) {
  Assembler assembler;
  EXPECT_FALSE(assembler.add("garbage"));
  EXPECT_FALSE(assembler.add(R"({"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]})"));
  EXPECT_FALSE(assembler.completion());
}

TEST(Assembler, AudioFragmentsAreJoined) {
  Assembler assembler;
  EXPECT_TRUE(assembler.add(R"({"choices":[{"index":0,"delta":{"audio":{"id":"a","data":"AA"}}}]})"));
  EXPECT_TRUE(assembler.add(
      R"({"choices":[{"index":0,"delta":{"audio":{"id":"a","data":"BB","expires_at":5}},"finish_reason":"stop"}]})"));
  EXPECT_NE(assembler.completion()->choices.find(R"("audio":{"id":"a","data":"AABB","expires_at":5})"),
            std::string::npos);
}

TEST(Tokens, AreEstimatedByScript) {
  EXPECT_EQ(estimate_tokens(""), 0);
  EXPECT_EQ(estimate_tokens("four"), 1);
  EXPECT_EQ(estimate_tokens("How do I reset my password?"), 7);
  EXPECT_EQ(estimate_tokens("怎么重置密码"), 4);
}

TEST(Chat, LargeBodiesDoNotKeepTheirScratch) {
  std::string body = R"({"model":"m","messages":[{"role":"user","content":")" + std::string(10 << 20, 'x') + R"("}]})";
  constexpr std::string_view kInjected = R"(,"stream":true,"stream_options":{"include_usage":true})";
  const auto large = parse_chat(body);
  ASSERT_TRUE(large);
  EXPECT_EQ(large->question.size(), size_t{10} << 20);
  EXPECT_EQ(upstream_body(*large, "m").size(), body.size() + kInjected.size());
  EXPECT_TRUE(parse_chat(R"({"model":"m","messages":[{"role":"user","content":"x"}]})"));
}

}  // namespace
}  // namespace hengshi::api
