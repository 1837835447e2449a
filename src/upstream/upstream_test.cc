#include "upstream/upstream.h"

#include <gtest/gtest.h>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "io/server.h"
#include "io/waiter.h"

namespace hengshi::upstream {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kRole =
    R"({"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})";
constexpr std::string_view kHello = R"({"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]})";
constexpr std::string_view kThere = R"({"choices":[{"index":0,"delta":{"content":" there"},"finish_reason":null}]})";
constexpr std::string_view kStop = R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})";

std::string event(std::string_view data) { return "data: " + std::string(data) + "\n\n"; }

std::vector<std::string> strings(std::initializer_list<std::string_view> views) { return {views.begin(), views.end()}; }

// What a server answers: a head, pieces of body, and how it ends.
struct Script {
  int status = 200;
  std::string content_type = "text/event-stream";
  std::string retry_after;
  std::vector<std::string> pieces;
  enum { kClean, kCut, kStall, kHangHeaders, kHangUp } end = kClean;
};

class ScriptedServer {
 public:
  ScriptedServer() {
    io::ServerOptions options;
    options.port = 0;
    options.drain_timeout = 100ms;
    auto server = io::Server::listen(
        options,
        [this](boost::asio::io_context& loop, int) -> io::Handler {
          const io::Executor executor = loop.get_executor();
          return [this, executor](io::Exchange& exchange) { return serve(exchange, executor); };
        },
        metrics_);
    if (!server) {
      ADD_FAILURE() << server.error().message;
      return;
    }
    server_ = *std::move(server);
    thread_ = std::thread([this] { server_->run(); });
  }

  ~ScriptedServer() {
    server_->shutdown();
    thread_.join();
  }

  std::string add(const std::string& name, Script script) {
    const std::lock_guard lock(mutex_);
    scripts_[name] = std::move(script);
    return "http://127.0.0.1:" + std::to_string(server_->port()) + "/" + name;
  }

  io::HttpRequest last() {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  int calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  // Clients that left before their answer ended.
  bool wait_for_leavers(int count) {
    std::unique_lock lock(mutex_);
    return someone_left_.wait_for(lock, 10s, [&] { return left_ >= count; });
  }

 private:
  Script script_of(const io::HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    last_ = request;
    ++calls_;
    const auto end = request.target.find('/', 1);
    return scripts_[request.target.substr(1, end - 1)];
  }

  io::Task<void> serve(io::Exchange& exchange, io::Executor executor) {
    const Script script = script_of(exchange.request());
    bool gone = false;
    io::Waiter waiter(executor);
    exchange.watch_client([&] {
      gone = true;
      waiter.wake();
    });
    if (script.end == Script::kHangUp) {
      co_await exchange.end_stream(false);
      co_return;
    }
    if (script.end != Script::kHangHeaders) {
      std::vector<io::Header> headers = {{"Content-Type", script.content_type}};
      if (!script.retry_after.empty()) headers.emplace_back("Retry-After", script.retry_after);
      co_await exchange.begin_stream(script.status, headers);
      for (const std::string& piece : script.pieces) co_await exchange.write(piece);
    }
    if (script.end == Script::kStall || script.end == Script::kHangHeaders) {
      while (!gone) co_await waiter.wait();
      const std::lock_guard lock(mutex_);
      ++left_;
      someone_left_.notify_all();
    } else {
      co_await exchange.end_stream(script.end == Script::kClean);
    }
  }

  Metrics metrics_;
  std::unique_ptr<io::Server> server_;
  std::thread thread_;
  std::mutex mutex_;
  std::map<std::string, Script> scripts_;
  io::HttpRequest last_;
  int calls_ = 0;
  int left_ = 0;
  std::condition_variable someone_left_;
};

class UpstreamTest : public ::testing::Test {
 protected:
  UpstreamTest() {
    auto request = api::parse_chat(R"({"model":"hengshi","messages":[{"role":"user","content":"hi"}]})");
    EXPECT_TRUE(request);
    if (request) request_ = *std::move(request);
  }

  std::unique_ptr<Upstream> make(const std::string& name, Script script, int max_concurrent = 4) {
    Options options;
    options.name = name;
    options.base_url = server_.add(name, std::move(script));
    options.model = "model-of-" + name;
    options.max_concurrent = max_concurrent;
    return std::make_unique<Upstream>(options, metrics_);
  }

  template <typename T>
  T run(io::Task<T> task) {
    std::optional<T> out;
    boost::asio::co_spawn(loop_, std::move(task), [&](std::exception_ptr, T value) {
      out = std::move(value);
      loop_.stop();
    });
    loop_.restart();
    loop_.run();
    return *std::move(out);
  }

  Result<std::unique_ptr<Answer>> ask(Upstream& upstream, CallHeaders headers = {}) {
    return run(upstream.ask(*client_, "{}", std::move(headers), io::Deadline::after(5s)));
  }
  // One event at a time, however many came together.
  Result<std::string> next(Answer& answer, std::chrono::milliseconds time = 5s) {
    if (come_.empty()) {
      TRY(auto more, run(answer.next(io::Deadline::after(time))));
      come_.assign(more.begin(), more.end());
    }
    if (come_.empty()) return std::string();
    std::string first = std::move(come_.front());
    come_.pop_front();
    return first;
  }
  static std::vector<std::string> data(const std::vector<Chunk>& chunks) {
    std::vector<std::string> out;
    for (const Chunk& chunk : chunks) out.push_back(chunk.data);
    return out;
  }
  Result<Opened> open(const std::vector<Upstream*>& chain, std::chrono::milliseconds time = 5s) {
    attempts_.clear();
    return run(open_first(chain, *client_, request_, {}, io::Deadline::after(time), &attempts_));
  }

  int64_t count(const std::string& name, const std::string& outcome) {
    return metrics_
        .counter("hengshi_upstream_requests_total", "Calls by how they ended",
                 {{"upstream", name}, {"outcome", outcome}})
        .value();
  }
  int64_t in_flight(const std::string& name) {
    return metrics_.gauge("hengshi_upstream_in_flight", "Calls that hold a place", {{"upstream", name}}).value();
  }

  ScriptedServer server_;
  Metrics metrics_;
  boost::asio::io_context loop_;
  std::unique_ptr<io::HttpClient> client_ = io::HttpClient::make(loop_);
  api::ChatRequest request_;
  std::vector<Attempt> attempts_;
  std::deque<std::string> come_;
};

std::vector<std::string> good_stream() {
  return {event(kRole), event(kHello) + event(kThere), event(kStop), event("[DONE]")};
}

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
      boost::asio::bind_cancellation_slot(cancel.slot(), [&](std::exception_ptr, auto) { ended = true; }));
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
