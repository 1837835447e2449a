// Upstreams in a row: who is asked, for how long, and what of it comes through.
#include <gtest/gtest.h>

#include "upstream/test_upstream.h"

namespace hengshi::upstream {
namespace {

TEST_F(UpstreamTest, OpenFirstReturnsAtTheFirstVisibleToken) {
  const auto upstream = make("good", {.pieces = good_stream()});
  auto opened = open({upstream.get()});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->upstream, upstream.get());
  const auto chunks = data(opened->chunks);  // Others may have come with it.
  ASSERT_GE(chunks.size(), 2U);
  EXPECT_EQ(strings({chunks[0], chunks[1]}), strings({kRole, kHello}));
  EXPECT_FALSE(opened->ended);
  while (!opened->ended) ASSERT_TRUE(run(opened->more(io::Deadline::after(5s))));
  EXPECT_EQ(data(opened->chunks), strings({kRole, kHello, kThere, kStop}));
  EXPECT_TRUE(attempts_.empty());
  EXPECT_EQ(
      metrics_.histogram("hengshi_upstream_seconds", "From a call to its first visible token", {{"upstream", "good"}})
          .count(),
      1);
  EXPECT_NE(server_.last().body.find(R"("model":"model-of-good")"), std::string::npos) << server_.last().body;
}

TEST_F(UpstreamTest, AnAnswerWithoutTextEndsInsideItsChunks) {
  const auto upstream = make("silent", {.pieces = {event(kRole), event(kStop), event("[DONE]")}});
  const auto opened = open({upstream.get()});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_TRUE(opened->ended);
  EXPECT_EQ(data(opened->chunks), strings({kRole, kStop}));
}

TEST_F(UpstreamTest, TheNextOneIsAskedWhenOneFails) {
  const auto broken = make("broken", {.status = 500});
  const auto cut = make("cut", {.pieces = {event(kRole)}, .end = Script::kCut});
  const auto good = make("good", {.pieces = good_stream()});
  const auto opened = open({broken.get(), cut.get(), good.get()});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->upstream, good.get());
  ASSERT_EQ(attempts_.size(), 2U);
  EXPECT_EQ(attempts_[0].upstream, "broken");
  EXPECT_EQ(attempts_[1].upstream, "cut");
  EXPECT_EQ(attempts_[1].error.code, ErrorCode::kUpstream);
}

TEST_F(UpstreamTest, ASilentOneLeavesTimeForTheNext) {
  const auto stalls = make("stalls", {.pieces = {event(kRole)}, .end = Script::kStall});
  const auto good = make("good", {.pieces = good_stream()});
  const auto opened = open({stalls.get(), good.get()}, 600ms);
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->upstream, good.get());
  ASSERT_EQ(attempts_.size(), 1U);
  EXPECT_EQ(attempts_[0].error.code, ErrorCode::kDeadline);
}

TEST_F(UpstreamTest, TheBudgetIsSharedByAll) {
  const auto a = make("a", {.end = Script::kHangHeaders});
  const auto b = make("b", {.pieces = {event(kRole)}, .end = Script::kStall});
  const auto start = std::chrono::steady_clock::now();
  const auto opened = open({a.get(), b.get()}, 60ms);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kDeadline);
  EXPECT_EQ(attempts_.size(), 2U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST_F(UpstreamTest, AClientsFaultEndsTheChain) {
  const auto refuses = make("refuses", {.status = 400, .content_type = "application/json"});
  const auto good = make("good", {.pieces = good_stream()});
  const auto opened = open({refuses.get(), good.get()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kInvalidRequest);
  EXPECT_EQ(server_.calls(), 1);
}

TEST_F(UpstreamTest, ThatFailedIsNotAskedAgainAtOnce) {
  const auto broken = make("broken", {.status = 503});
  const auto opened = open({broken.get(), broken.get()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(server_.calls(), 1);
  EXPECT_EQ(attempts_.size(), 1U);
}

TEST_F(UpstreamTest, ALimitOnTheLastOneKeepsItsRetryAfter) {
  const auto broken = make("broken", {.status = 500});
  const auto limited = make("limited", {.status = 429, .retry_after = "12"});
  const auto opened = open({broken.get(), limited.get()});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kRateLimited);
  EXPECT_EQ(opened.error().retry_after_s, 12);
}

TEST_F(UpstreamTest, AClosedPortIsAnUpstreamErrorAtOnce) {
  Options options;
  options.name = "closed";
  options.base_url = "http://127.0.0.1:1/v1";
  Upstream closed(options, metrics_);
  const auto good = make("good", {.pieces = good_stream()});
  EXPECT_TRUE(open({&closed, good.get()}));
  ASSERT_EQ(attempts_.size(), 1U);
  EXPECT_EQ(attempts_[0].error.code, ErrorCode::kUpstream);
  const auto none = open({&closed});
  ASSERT_FALSE(none);
  EXPECT_EQ(count("closed", "error"), 2);
}

TEST_F(UpstreamTest, AServerThatHangsUpIsAnUpstreamError) {
  const auto upstream = make("hangs-up", {.end = Script::kHangUp});
  const auto answer = ask(*upstream);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::kUpstream);
}

TEST_F(UpstreamTest, AnEmptyChainSaysSo) {
  const auto opened = open({});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kOverloaded);
}

TEST_F(UpstreamTest, AFullUpstreamRefusesAndTheNextAnswers) {
  Options options;
  options.name = "small";
  options.base_url = server_.add("small", {.pieces = {event(kRole)}, .end = Script::kStall});
  options.max_concurrent = 1;
  options.queue_limit = 0;
  Upstream small(options, metrics_);
  const auto held = ask(small);
  ASSERT_TRUE(held);
  const auto good = make("good", {.pieces = good_stream()});
  const auto opened = open({&small, good.get()});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(attempts_[0].error.code, ErrorCode::kOverloaded);
  EXPECT_EQ(count("small", "overloaded"), 1);
}

}  // namespace
}  // namespace hengshi::upstream
