// test_upstream.h — for the tests of this room: a server that answers by script, and upstreams that call it.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/check.h"
#include "io/server.h"
#include "io/waiter.h"
#include "upstream/upstream.h"

namespace hengshi::upstream {

using namespace std::chrono_literals;

inline constexpr std::string_view kRole =
    R"({"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]})";
inline constexpr std::string_view kHello =
    R"({"choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]})";
inline constexpr std::string_view kThere =
    R"({"choices":[{"index":0,"delta":{"content":" there"},"finish_reason":null}]})";
inline constexpr std::string_view kStop = R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})";

inline std::string event(std::string_view data) { return "data: " + std::string(data) + "\n\n"; }

inline std::vector<std::string> strings(std::initializer_list<std::string_view> views) {
  return {views.begin(), views.end()};
}

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
    boost::asio::co_spawn(loop_, std::move(task), [&](const std::exception_ptr&, T value) {
      out = std::move(value);
      loop_.stop();
    });
    loop_.restart();
    loop_.run();
    CHECK(out.has_value(), "the loop ran until the task had ended");
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
    out.reserve(chunks.size());
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

inline std::vector<std::string> good_stream() {
  return {event(kRole), event(kHello) + event(kThere), event(kStop), event("[DONE]")};
}

}  // namespace hengshi::upstream
