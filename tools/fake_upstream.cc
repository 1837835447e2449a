// fake_upstream.cc — a model server that is a fake and says so: for tests and benchmarks, never for a real question.
//
// It answers POST /v1/chat/completions (stream or not) with the question itself, GET /v1/models, and
//   GET /fake/stats      what it has seen, and in which phase clients left
//   GET /fake/last       the last chat request: headers and body
//   GET /fake/last/body  that body, byte for byte
// It misbehaves on purpose (fake_fault.h) as the header `x-fake: cut:3`, a model name like `fake-model+cut:3`, or
// --fault with --fault-rate say, in this order.

#include <signal.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_set>

#include "base/digest.h"
#include "base/log.h"
#include "fake_answer.h"
#include "fake_fault.h"
#include "io/server.h"
#include "io/waiter.h"

namespace fake {

namespace io = hengshi::io;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

struct Settings {
  io::ServerOptions server;
  std::string port_file;
  std::string model = "fake-model";
  double latency_ms = 0;
  std::string latency;  // "lognormal:median_ms,p99_ms"
  double token_ms = 0;
  int64_t tokens = 0;
  std::string fault;
  double fault_rate = 1;
  uint64_t seed = 1;
};

struct Stats {
  std::atomic<int64_t> requests = 0, completed = 0, faults = 0;
  std::atomic<int64_t> before_headers = 0, before_first_token = 0, mid_stream = 0;

  std::mutex mutex;  // of the rest
  std::unordered_set<hengshi::Digest, hengshi::DigestHash> bodies;
  io::HttpRequest last;
};

// Draws how long the head of an answer takes, and whether it is one of those that fail.
class Chance {
 public:
  Chance(const Settings& settings, int loop)
      : settings_(settings), random_(settings.seed + static_cast<uint64_t>(loop)) {
    double median = 0, p99 = 0;
    if (std::sscanf(settings.latency.c_str(), "lognormal:%lf,%lf", &median, &p99) != 2) return;
    constexpr double kZ99 = 2.3263;
    latency_ = std::lognormal_distribution<double>(std::log(median), std::log(p99 / median) / kZ99);
  }

  std::chrono::nanoseconds latency() {
    const double ms = settings_.latency_ms + (latency_ ? (*latency_)(random_) : 0);
    return std::chrono::nanoseconds(std::llround(ms * 1e6));
  }
  bool fails() { return std::bernoulli_distribution(settings_.fault_rate)(random_); }

 private:
  const Settings& settings_;
  std::mt19937_64 random_;
  std::optional<std::lognormal_distribution<double>> latency_;
};

struct Shared {
  const Settings& settings;
  Stats& stats;
  const Faults& standing;
  std::atomic<int64_t> next_id = 1;
};

std::string error_json(std::string_view message, std::string_view code) {
  return "{\"error\":{\"message\":" + json_string(message) +
         ",\"type\":\"fake_error\",\"param\":null,\"code\":" + json_string(code) + "}}";
}

io::Task<bool> send_json(io::Exchange& exchange, int status, std::string_view body) {
  const io::Header type{"Content-Type", "application/json"};
  co_return co_await exchange.send(status, {&type, 1}, body);
}

// One chat request from its reading to its last byte.
class Turn {
 public:
  Turn(Shared& shared, io::Exchange& exchange, const io::Executor& executor)
      : shared_(shared), exchange_(exchange), waiter_(executor) {}

  io::Task<void> serve(Chance& chance) {
    auto call = read_call(exchange_.request().body);
    if (!call) {
      const std::string body = error_json(call.error().message, "invalid_request");
      co_await send_json(exchange_, 400, body);
      co_return;
    }
    call_ = *std::move(call);
    auto faults = choose_faults(chance);
    if (!faults) {
      const std::string body = error_json(faults.error().message, "unknown_fault");
      co_await send_json(exchange_, 400, body);
      co_return;
    }
    faults_ = *std::move(faults);
    saying_ = say(call_, shared_.settings.tokens);
    naming_ = {.id = "chatcmpl-fake-" + std::to_string(shared_.next_id++),
               .model = call_.model,
               .created = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())};
    exchange_.watch_client([this] {
      gone_ = true;
      waiter_.wake();
    });
    co_await answer(chance.latency());
    count();
  }

 private:
  enum class Phase { kBeforeHeaders, kBeforeFirstToken, kMidStream, kDone };

  Result<Faults> choose_faults(Chance& chance) {
    const std::string_view header = exchange_.request().header("x-fake");
    const size_t plus = call_.model.find('+');
    if (!header.empty()) return parse_faults(header);
    if (plus != std::string::npos) return parse_faults(std::string_view(call_.model).substr(plus + 1));
    if (!shared_.settings.fault.empty() && chance.fails()) return shared_.standing;
    return Faults{};
  }

  io::Task<void> answer(std::chrono::nanoseconds latency) {
    co_await sleep(latency);
    if (faults_.hang_headers) co_await sleep_forever();
    if (gone_) co_return;
    if (faults_.refuse) {
      broken_ = true;
      co_await exchange_.end_stream(false);
    } else if (faults_.status != 0) {
      broken_ = true;
      co_await send_status();
    } else if (call_.stream && !faults_.json) {
      co_await send_stream();
    } else {
      co_await send_whole();
    }
  }

  io::Task<void> send_status() {
    std::vector<io::Header> headers = {{"Content-Type", "application/json"}};
    if (!faults_.retry_after.empty()) headers.emplace_back("Retry-After", faults_.retry_after);
    const std::string body = error_json("this fake was told to fail", "fake");
    co_await exchange_.send(faults_.status, headers, body);
  }

  io::Task<void> send_whole() {
    co_await sleep(milliseconds(faults_.slow_ms));
    if (shared_.settings.token_ms > 0) co_await sleep(token_time() * static_cast<int64_t>(saying_.deltas.size()));
    if (faults_.stall_after >= 0) co_await sleep_forever();
    if (gone_) co_return;
    broken_ = faults_.garbage;
    const std::string body =
        faults_.garbage ? "<html>no chat here</html>" : whole_answer(naming_, call_, saying_, !faults_.no_usage);
    if (co_await send_json(exchange_, 200, body)) phase_ = Phase::kDone;
  }

  io::Task<void> send_stream() {
    const std::vector<io::Header> headers = {{"Content-Type", "text/event-stream; charset=utf-8"},
                                             {"Cache-Control", "no-cache"}};
    gone_ = !co_await exchange_.begin_stream(200, headers) || gone_;
    phase_ = Phase::kBeforeFirstToken;
    const EventWriter events(naming_, call_);
    if (faults_.garbage) pending_ += "data: no chat here\n\n";
    events.delta(pending_, "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}");
    co_await send_tokens(events);
    if (gone_ || broken_) co_return;
    events.delta(pending_, "{}", saying_.finish_reason);
    if (call_.include_usage && !faults_.no_usage) events.usage(pending_, saying_);
    pending_ += "data: [DONE]\n\n";
    co_await flush();
    if (gone_) co_return;
    phase_ = Phase::kDone;
    co_await exchange_.end_stream(true);
  }

  // Without a time per token all of them leave in one piece: this fake is then as fast as it can be.
  io::Task<void> send_tokens(const EventWriter& events) {
    co_await wait_between(milliseconds(faults_.slow_ms));
    for (int sent = 0;; ++sent) {
      co_await fail_after(sent);
      if (gone_ || broken_ || sent == static_cast<int>(saying_.deltas.size())) co_return;
      if (sent > 0 && shared_.settings.token_ms > 0) co_await wait_between(token_time());
      events.delta(pending_, saying_.deltas[static_cast<size_t>(sent)]);
      phase_ = Phase::kMidStream;
    }
  }

  io::Task<void> fail_after(int tokens) {
    if (tokens == faults_.stall_after) {
      co_await flush();
      co_await sleep_forever();
    }
    if (tokens == faults_.error_after) {
      pending_ += "data: " + error_json("this fake was told to fail", "fake") + "\n\n";
      co_await flush();
      broken_ = true;
      co_await exchange_.end_stream(true);
    } else if (tokens == faults_.cut_after) {
      co_await flush();
      broken_ = true;
      co_await exchange_.end_stream(false);
    }
  }

  io::Task<void> wait_between(std::chrono::nanoseconds time) {
    if (time <= time.zero()) co_return;
    co_await flush();
    co_await sleep(time);
  }

  io::Task<void> flush() {
    if (!pending_.empty() && !gone_) gone_ = !co_await exchange_.write(pending_) || gone_;
    pending_.clear();
  }

  std::chrono::nanoseconds token_time() const {
    return std::chrono::nanoseconds(std::llround(shared_.settings.token_ms * 1e6));
  }

  io::Task<void> sleep(std::chrono::nanoseconds time) {
    if (time <= time.zero()) co_return;
    const auto until = steady_clock::now() + time;
    while (!gone_ && steady_clock::now() < until) co_await waiter_.wait(until);
  }

  io::Task<void> sleep_forever() {
    broken_ = true;
    while (!gone_) co_await waiter_.wait();
  }

  void count() {
    Stats& stats = shared_.stats;
    if (broken_) ++stats.faults;
    if (!gone_ && phase_ == Phase::kDone) ++stats.completed;
    if (!gone_) return;
    switch (phase_) {
      case Phase::kBeforeHeaders: ++stats.before_headers; break;
      case Phase::kBeforeFirstToken: ++stats.before_first_token; break;
      case Phase::kMidStream: ++stats.mid_stream; break;
      case Phase::kDone: ++stats.completed; break;  // It left with the whole answer.
    }
  }

  Shared& shared_;
  io::Exchange& exchange_;
  io::Waiter waiter_;
  ChatCall call_;
  Faults faults_;
  Saying saying_;
  Naming naming_;
  std::string pending_;
  Phase phase_ = Phase::kBeforeHeaders;
  bool gone_ = false;
  bool broken_ = false;
};

std::string stats_json(Stats& stats) {
  const std::lock_guard lock(stats.mutex);
  std::string out =
      "{\"requests\":" + std::to_string(stats.requests) + ",\"completed\":" + std::to_string(stats.completed);
  out += ",\"faults\":" + std::to_string(stats.faults);
  out += ",\"cancelled\":{\"before_headers\":" + std::to_string(stats.before_headers);
  out += ",\"before_first_token\":" + std::to_string(stats.before_first_token);
  out += ",\"mid_stream\":" + std::to_string(stats.mid_stream);
  return out + "},\"distinct_bodies\":" + std::to_string(stats.bodies.size()) + "}";
}

std::string last_json(Stats& stats) {
  const std::lock_guard lock(stats.mutex);
  std::string out = "{\"target\":" + json_string(stats.last.target) + ",\"headers\":[";
  for (const auto& [name, value] : stats.last.headers) {
    if (out.back() != '[') out += ',';
    out += "[" + json_string(name) + "," + json_string(value) + "]";
  }
  return out + "],\"body\":" + json_string(stats.last.body) + "}";
}

void remember(Stats& stats, const io::HttpRequest& request) {
  constexpr size_t kMostBodies = 1'000'000;
  ++stats.requests;
  const hengshi::Digest digest = hengshi::digest(request.body);
  const std::lock_guard lock(stats.mutex);
  stats.last = request;
  if (stats.bodies.size() < kMostBodies) stats.bodies.insert(digest);
}

io::Task<void> serve(Shared& shared, Chance& chance, const io::Executor& executor, io::Exchange& exchange) {
  const io::HttpRequest& request = exchange.request();
  const std::string_view path = request.path();
  std::string body;
  int status = 200;
  if (request.method == "POST" && path == "/v1/chat/completions") {
    remember(shared.stats, request);
    Turn turn(shared, exchange, executor);
    co_await turn.serve(chance);
    co_return;
  }
  if (path == "/v1/models") {
    body = "{\"object\":\"list\",\"data\":[{\"id\":" + json_string(shared.settings.model) +
           ",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"fake\"}]}";
  } else if (path == "/fake/stats") {
    body = stats_json(shared.stats);
  } else if (path == "/fake/last") {
    body = last_json(shared.stats);
  } else if (path == "/fake/last/body") {
    const std::lock_guard lock(shared.stats.mutex);
    body = shared.stats.last.body;
  } else {
    status = 404;
    body = error_json("this fake knows no such path", "not_found");
  }
  co_await send_json(exchange, status, body);
}

io::HandlerFactory handlers(Shared& shared) {
  return [&shared](boost::asio::io_context& loop, int index) -> io::Handler {
    auto chance = std::make_shared<Chance>(shared.settings, index);
    const io::Executor executor = loop.get_executor();
    return [&shared, chance, executor](io::Exchange& exchange) { return serve(shared, *chance, executor, exchange); };
  };
}

void add_options(CLI::App& app, Settings& settings) {
  app.add_option("--address", settings.server.address, "where to listen")->capture_default_str();
  app.add_option("--port", settings.server.port, "0: any free one")->capture_default_str();
  app.add_option("--port-file", settings.port_file, "the port is written here once it listens");
  app.add_option("--threads", settings.server.threads)->capture_default_str();
  app.add_option("--model", settings.model, "what /v1/models says")->capture_default_str();
  app.add_option("--latency-ms", settings.latency_ms, "before the head of an answer")->capture_default_str();
  app.add_option("--latency", settings.latency, "on top: lognormal:median_ms,p99_ms");
  app.add_option("--token-ms", settings.token_ms, "between tokens; 0: all in one piece")->capture_default_str();
  app.add_option("--tokens", settings.tokens, "at least so many in an answer")->capture_default_str();
  app.add_option("--fault", settings.fault, "for every request that asks for none itself: cut:3, 429:7, stall, …");
  app.add_option("--fault-rate", settings.fault_rate, "share of them, 0 … 1")->capture_default_str();
  app.add_option("--seed", settings.seed, "of latencies and faults")->capture_default_str();
}

bool write_port(const std::string& path, uint16_t port) {
  if (path.empty()) return true;
  const std::string half = path + ".new";  // Whoever waits for the file never sees half of it.
  std::ofstream(half) << port << '\n';
  return std::rename(half.c_str(), path.c_str()) == 0;
}

int run(Settings settings) {
  const auto standing = parse_faults(settings.fault);
  if (!standing) {
    std::fprintf(stderr, "fake_upstream: --fault: %s\n", standing.error().message.c_str());
    return 2;
  }
  Stats stats;
  Shared shared{settings, stats, *standing};
  hengshi::Metrics metrics;
  settings.server.drain_timeout = milliseconds(500);
  auto server = io::Server::listen(settings.server, handlers(shared), metrics);
  if (!server) {
    std::fprintf(stderr, "fake_upstream: %s\n", server.error().message.c_str());
    return 1;
  }
  if (!write_port(settings.port_file, (*server)->port())) {
    std::fprintf(stderr, "fake_upstream: cannot write %s\n", settings.port_file.c_str());
    return 1;
  }
  std::fprintf(stderr, "fake_upstream: http://%s:%d/v1 (a fake: it says the question back)\n",
               settings.server.address.c_str(), (*server)->port());
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  std::thread watcher([&] {
    int which = 0;
    sigwait(&ends, &which);
    (*server)->shutdown();
  });
  (*server)->run();
  watcher.join();
  return 0;
}

}  // namespace fake

int main(int argc, char** argv) try {
  CLI::App app("A fake model server for tests and benchmarks: it says the question back, and fails when told to.");
  fake::Settings settings;
  fake::add_options(app, settings);
  CLI11_PARSE(app, argc, argv);
  return fake::run(std::move(settings));
} catch (const std::exception& error) {
  std::fprintf(stderr, "fake_upstream: %s\n", error.what());
  return 1;
}
