#include "api/plain_chunk.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/chat.h"

namespace hengshi::api {
namespace {

constexpr std::string_view kRole =
    R"({"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]})";

std::string chunk_of(std::string_view text, std::string_view rest = R"("logprobs":null,"finish_reason":null)") {
  return R"({"id":"c","model":"theirs", "choices":[{"index":0,"delta":{"content":")" + std::string(text) + R"("},)" +
         std::string(rest) + R"(}],"usage":null})";
}

// The event of a writer that has seen nothing but the role before, and so reads the chunk as JSON.
std::string read_whole(const std::string& chunk, bool include_usage) {
  ChunkWriter writer("ours", 7, "model", include_usage);
  std::string out;
  EXPECT_TRUE(writer.relay(out, kRole, nullptr));
  out.clear();
  return writer.relay(out, chunk, nullptr) ? out : "error";
}

const std::vector<std::string> kTexts = {"one",
                                         " two",
                                         R"(\n)",
                                         R"(a \"quoted\" word)",
                                         "",
                                         "你好，世界",
                                         R"(\u4f60\ud83d)",
                                         "\x01",
                                         "\xff\xfe",
                                         "x\"},\"y\":{\"z\":\"",
                                         "🙂",
                                         R"(\\)"};

TEST(PlainChunk, PassesOnWhatReadingTheWholeChunkWould) {
  for (const bool include_usage : {false, true}) {
    for (const std::string& text : kTexts) {
      ChunkWriter writer("ours", 7, "model", include_usage);
      std::string out;
      ASSERT_TRUE(writer.relay(out, kRole, nullptr));
      for (const char* before : {"first", "second"}) ASSERT_TRUE(writer.relay(out, chunk_of(before), nullptr));
      out.clear();
      const bool fine = writer.relay(out, chunk_of(text), nullptr).has_value();
      EXPECT_EQ(fine ? out : "error", read_whole(chunk_of(text), include_usage)) << text;
    }
  }
}

TEST(PlainChunk, AssemblesWhatReadingTheWholeChunkWould) {
  for (const std::string& text : kTexts) {
    Assembler learnt, fresh;
    ASSERT_TRUE(fresh.add(kRole));
    ASSERT_TRUE(learnt.add(kRole));
    ASSERT_TRUE(learnt.add(chunk_of("")));
    const auto seen = learnt.add(chunk_of(text));
    const auto expected = fresh.add(chunk_of(text));
    ASSERT_EQ(seen.has_value(), expected.has_value()) << text;
    if (!seen) continue;
    EXPECT_EQ(seen->visible, expected->visible) << text;
    EXPECT_EQ(learnt.text(), fresh.text()) << text;
  }
}

TEST(PlainChunk, AnythingThatSaysMoreIsReadWhole) {
  for (const std::string_view rest : {R"("logprobs":{"content":[]})", R"("finish_reason":"stop")", R"("extra":1)"}) {
    Assembler assembler;
    const bool finishes = rest.find("stop") != std::string::npos;
    ASSERT_TRUE(assembler.add(finishes ? chunk_of("a") : chunk_of("a", rest)));
    const auto seen = assembler.add(chunk_of("b", rest));
    ASSERT_TRUE(seen);
    EXPECT_EQ(seen->finished, finishes);
    const auto more = assembler.add(chunk_of("c"));  // Nothing follows a finish reason.
    ASSERT_TRUE(more);
    EXPECT_EQ(more->ignored, finishes);
    EXPECT_EQ(assembler.text(), finishes ? "ab" : "abc");
  }
}

TEST(PlainChunk, AChoiceOfItsOwnKeepsItsText) {
  Assembler assembler;
  const std::string other = R"({"choices":[{"index":1,"delta":{"content":"b"}}]})";
  ASSERT_TRUE(assembler.add(chunk_of("a")));
  ASSERT_TRUE(assembler.add(other));
  ASSERT_TRUE(assembler.add(chunk_of("c")));
  ASSERT_TRUE(assembler.add(chunk_of("d")));
  ASSERT_TRUE(assembler.add(other));
  EXPECT_EQ(assembler.text(), "acd");
}

}  // namespace
}  // namespace hengshi::api
