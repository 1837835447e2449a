#include "upstream/upstream.h"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include "upstream/test_upstream.h"

namespace hengshi::upstream {
namespace {

TEST_F(UpstreamTest, AStreamComesEventByEvent) {
  const auto upstream = make("good", {.pieces = good_stream()});
  auto answer = ask(*upstream);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(in_flight("good"), 1);
  for (const auto& chunk : {kRole, kHello, kThere, kStop, std::string_view(), std::string_view()}) {
    const auto got = next(**answer);
    ASSERT_TRUE(got) << got.error().message;
    EXPECT_EQ(*got, chunk);
  }
  answer->reset();
  EXPECT_EQ(in_flight("good"), 0);
  EXPECT_EQ(count("good", "ok"), 1);
}

TEST_F(UpstreamTest, SendsWhatAProviderNeeds) {
  Options options;
  options.name = "keyed";
  options.base_url = server_.add("keyed", {.pieces = good_stream()}) + "/";
  options.api_key = "secret";
  Upstream upstream(options, metrics_);
  const auto answer = run(upstream.ask(*client_, R"({"a": 1})", {"req-1", "00-ab-cd-01"}, io::Deadline::after(5s)));
  ASSERT_TRUE(answer) << answer.error().message;
  const io::HttpRequest seen = server_.last();
  EXPECT_EQ(seen.method, "POST");
  EXPECT_EQ(seen.target, "/keyed/chat/completions");
  EXPECT_EQ(seen.body, R"({"a": 1})");
  EXPECT_EQ(seen.header("authorization"), "Bearer secret");
  EXPECT_EQ(seen.header("accept"), "text/event-stream");
  EXPECT_EQ(seen.header("content-type"), "application/json");
  EXPECT_EQ(seen.header("x-request-id"), "req-1");
  EXPECT_EQ(seen.header("traceparent"), "00-ab-cd-01");
}

TEST_F(UpstreamTest, RefusalsAreMapped) {
  struct {
    const char* name;
    int status;
    ErrorCode code;
    const char* outcome;
  } const kinds[] = {{"s400", 400, ErrorCode::kInvalidRequest, "refused"},
                     {"s401", 401, ErrorCode::kUpstream, "error"},
                     {"s404", 404, ErrorCode::kNotFound, "refused"},
                     {"s429", 429, ErrorCode::kRateLimited, "rate_limited"},
                     {"s500", 500, ErrorCode::kUpstream, "error"}};
  for (const auto& kind : kinds) {
    const std::string body = R"({"error":{"message":"because","type":"t","param":null,"code":null}})";
    const auto upstream = make(kind.name, {.status = kind.status,
                                           .content_type = "application/json",
                                           .retry_after = kind.status == 429 ? "7" : "",
                                           .pieces = {body}});
    const auto answer = ask(*upstream);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, kind.code) << kind.name;
    EXPECT_EQ(answer.error().retry_after_s, kind.status == 429 ? 7 : 0);
    EXPECT_EQ(count(kind.name, kind.outcome), 1) << kind.name;
    EXPECT_EQ(in_flight(kind.name), 0);
  }
}

TEST_F(UpstreamTest, ACutAndAMissingDoneAreErrors) {
  for (const bool clean : {true, false}) {
    const auto upstream = make(clean ? "undone" : "cut",
                               {.pieces = {event(kRole), event(kHello)}, .end = clean ? Script::kClean : Script::kCut});
    auto answer = ask(*upstream);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(next(**answer));
    EXPECT_TRUE(next(**answer));
    const auto third = next(**answer);
    ASSERT_FALSE(third);
    EXPECT_EQ(third.error().code, ErrorCode::kUpstream);
    EXPECT_EQ(count(upstream->options().name, "error"), 1);
  }
}

TEST_F(UpstreamTest, SilenceIsATimeoutAndTheServerIsLeft) {
  const auto stalls = make("stalls", {.pieces = {event(kRole)}, .end = Script::kStall});
  auto answer = ask(*stalls);
  ASSERT_TRUE(answer);
  EXPECT_TRUE(next(**answer));
  const auto second = next(**answer, 20ms);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::kDeadline);
  answer->reset();
  EXPECT_TRUE(server_.wait_for_leavers(1));

  const auto hangs = make("hangs", {.end = Script::kHangHeaders});
  const auto none = run(hangs->ask(*client_, "{}", {}, io::Deadline::after(20ms)));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kDeadline);
  EXPECT_TRUE(server_.wait_for_leavers(2));
  EXPECT_EQ(count("stalls", "timeout"), 1);
  EXPECT_EQ(count("hangs", "timeout"), 1);
}

TEST_F(UpstreamTest, DroppingAnAnswerCancelsTheCall) {
  const auto upstream = make("dropped", {.pieces = {event(kRole)}, .end = Script::kStall});
  auto answer = ask(*upstream);
  ASSERT_TRUE(answer);
  answer->reset();
  EXPECT_EQ(in_flight("dropped"), 0);
  EXPECT_EQ(count("dropped", "cancelled"), 1);
  EXPECT_TRUE(server_.wait_for_leavers(1));
}

TEST_F(UpstreamTest, CancellingACallBeforeItsHeadLeavesTheServer) {
  const auto upstream = make("early", {.end = Script::kHangHeaders});
  boost::asio::cancellation_signal cancel;
  bool ended = false;
  boost::asio::co_spawn(
      loop_, upstream->ask(*client_, "{}", {}, io::Deadline::after(1h)),
      boost::asio::bind_cancellation_slot(cancel.slot(), [&](const std::exception_ptr&, auto) { ended = true; }));
  loop_.restart();
  while (server_.calls() == 0) loop_.run_one_for(10ms);
  cancel.emit(boost::asio::cancellation_type::terminal);
  while (!ended) loop_.run_one_for(10ms);
  EXPECT_EQ(in_flight("early"), 0);
  EXPECT_EQ(count("early", "cancelled"), 1);
  loop_.run_for(1ms);
  EXPECT_TRUE(server_.wait_for_leavers(1));
}

TEST_F(UpstreamTest, AWholeAnswerBecomesChunks) {
  const auto upstream =
      make("whole", {.content_type = "Application/JSON; charset=utf-8",
                     .pieces = {R"({"choices":[{"index":0,"message":{"role":"assistant","content":"Hi"},)",
                                R"("finish_reason":"stop"}]})"}});
  const auto opened = open({upstream.get()});
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_EQ(opened->chunks.size(), 2U);
  EXPECT_NE(opened->chunks[0].data.find("\"Hi\""), std::string::npos);
  EXPECT_NE(opened->chunks[1].data.find("\"stop\""), std::string::npos);
  EXPECT_EQ(*next(*opened->answer), "");
  EXPECT_EQ(count("whole", "ok"), 1);
}

TEST_F(UpstreamTest, GarbageIsAnUpstreamError) {
  const auto stream = make("garbage", {.pieces = {event("<html>")}});
  const auto json = make("bad-json", {.content_type = "application/json", .pieces = {"<html>"}});
  const auto html = make("html", {.content_type = "text/html", .pieces = {"<html>sign in</html>"}});
  for (Upstream* upstream : {stream.get(), json.get(), html.get()}) {
    const auto opened = open({upstream});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kUpstream);
    EXPECT_EQ(opened.error().message.find("html"), std::string::npos) << opened.error().message;
    EXPECT_EQ(count(upstream->options().name, "error"), 1) << upstream->options().name;
  }
}

TEST_F(UpstreamTest, AnErrorInsideA200IsThatError) {
  const std::string limited =
      R"({"error":{"message":"slow down","type":"rate_limit_error","param":null,"code":"429"}})";
  const auto event_error = make("event-error", {.pieces = {event(limited)}});
  const auto json_error = make("json-error", {.content_type = "application/json", .pieces = {limited}});
  for (Upstream* upstream : {event_error.get(), json_error.get()}) {
    const auto opened = open({upstream});
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kRateLimited) << upstream->options().name;
    EXPECT_EQ(count(upstream->options().name, "rate_limited"), 1);
  }
}

}  // namespace
}  // namespace hengshi::upstream
