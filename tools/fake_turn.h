// fake_turn.h — one chat request to the fake upstream, from its reading to its last byte: the question said back, or the
// fault that was asked for.
//
// Threads: a Turn and a Chance belong to one loop.
#pragma once

#include <cmath>
#include <cstdio>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/log.h"
#include "fake_answer.h"
#include "fake_fault.h"
#include "fake_stats.h"
#include "io/server.h"
#include "io/waiter.h"

namespace fake {

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

inline std::string error_json(std::string_view message, std::string_view code) {
  return "{\"error\":{\"message\":" + json_string(message) +
         ",\"type\":\"fake_error\",\"param\":null,\"code\":" + json_string(code) + "}}";
}

inline io::Task<bool> send_json(io::Exchange& exchange, int status, std::string_view body) {
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
    enter(Phase::kBeforeHeaders);
    co_await answer(chance.latency());
    count();
  }

 private:
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
    if (co_await send_json(exchange_, 200, body)) enter(Phase::kDone);
  }

  io::Task<void> send_stream() {
    const std::vector<io::Header> headers = {{"Content-Type", "text/event-stream; charset=utf-8"},
                                             {"Cache-Control", "no-cache"}};
    gone_ = !co_await exchange_.begin_stream(200, headers) || gone_;
    enter(Phase::kBeforeFirstToken);
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
    enter(Phase::kDone);
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
      enter(Phase::kMidStream);
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

  void enter(Phase phase) {
    auto& open = shared_.stats.open;
    if (phase_ != Phase::kDone) --open[static_cast<size_t>(phase_)];
    if (phase != Phase::kDone) ++open[static_cast<size_t>(phase)];
    phase_ = phase;
  }

  void count() {
    Stats& stats = shared_.stats;
    const Phase reached = phase_;
    if (broken_) ++stats.faults;
    if (reached == Phase::kDone) ++stats.completed;  // Perhaps it left, but with the whole answer.
    if (gone_ && reached != Phase::kDone) ++stats.cancelled[static_cast<size_t>(reached)];
    enter(Phase::kDone);
  }

  Shared& shared_;
  io::Exchange& exchange_;
  io::Waiter waiter_;
  ChatCall call_;
  Faults faults_;
  Saying saying_;
  Naming naming_;
  std::string pending_;
  Phase phase_ = Phase::kDone;
  bool gone_ = false;
  bool broken_ = false;
};

}  // namespace fake
