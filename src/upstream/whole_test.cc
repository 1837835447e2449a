#include "upstream/whole.h"

#include <gtest/gtest.h>

#include "api/chat.h"

namespace hengshi::upstream {
namespace {

TEST(Whole, ContentThenFinishThenUsage) {
  const auto chunks =
      chunks_of(R"({"id":"c1","object":"chat.completion","created":7,"model":"m","choices":[{"index":0,"message":)"
                R"({"role":"assistant","content":"hi","refusal":null},"logprobs":null,"finish_reason":"stop"}],)"
                R"("usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4},"system_fingerprint":"fp"})");
  ASSERT_TRUE(chunks) << chunks.error().message;
  ASSERT_EQ(chunks->size(), 3U);
  EXPECT_EQ(
      (*chunks)[0],
      R"({"id":"c1","created":7,"model":"m","system_fingerprint":"fp","object":"chat.completion.chunk","choices":[)"
      R"({"index":0,"delta":{"role":"assistant","content":"hi","refusal":null},"logprobs":null,)"
      R"("finish_reason":null}]})");
  EXPECT_EQ(
      (*chunks)[1],
      R"({"id":"c1","created":7,"model":"m","system_fingerprint":"fp","object":"chat.completion.chunk","choices":[)"
      R"({"index":0,"delta":{},"finish_reason":"stop"}]})");
  EXPECT_EQ((*chunks)[2],
            R"({"id":"c1","created":7,"model":"m","system_fingerprint":"fp","object":"chat.completion.chunk",)"
            R"("choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}})");
}

TEST(Whole, ToolCallsGetTheirIndex) {
  const auto chunks =
      chunks_of(R"({"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[)"
                R"({"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},{"id":"b"}]},)"
                R"("finish_reason":"tool_calls"}]})");
  ASSERT_TRUE(chunks);
  ASSERT_EQ(chunks->size(), 2U);
  EXPECT_EQ((*chunks)[0],
            R"({"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":null,)"
            R"("tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{\"x\":1}"}},)"
            R"({"index":1,"id":"b"}]},"finish_reason":null}]})");
}

TEST(Whole, SeveralChoicesFoldBackToTheSameAnswer) {
  const auto chunks = chunks_of(
      R"({"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"甲"},"finish_reason":"stop"},)"
      R"({"index":1,"message":{"role":"assistant","content":"乙"},"finish_reason":"length"}]})");
  ASSERT_TRUE(chunks);
  api::Assembler assembler;
  for (const auto& chunk : *chunks) ASSERT_TRUE(assembler.add(chunk)) << chunk;
  EXPECT_TRUE(assembler.finished());
  EXPECT_EQ(assembler.text(), "甲");
  const auto completion = assembler.completion();
  ASSERT_TRUE(completion);
  EXPECT_NE(completion->choices.find("乙"), std::string::npos);
  EXPECT_FALSE(api::complete(*completion));
}

TEST(Whole, AnErrorStaysOne) {
  const std::string body = R"({"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":"429"}})";
  const auto chunks = chunks_of(body);
  ASSERT_TRUE(chunks);
  EXPECT_EQ(*chunks, std::vector{body});
}

TEST(Whole, AnythingElseIsRefused) {
  for (const char* text : {"", "null", "[]", "{}", "{\"choices\":[]}", "{\"choices\":7}", "{\"choices\":[7]}",
                           "{\"choices\":[{\"message\":\"hi\"}]}", "<html>", "{\"choices\":[{\"message\":{}"}) {
    const auto chunks = chunks_of(text);
    ASSERT_FALSE(chunks) << text;
    EXPECT_EQ(chunks.error().code, ErrorCode::kUpstream);
  }
}

}  // namespace
}  // namespace hengshi::upstream
