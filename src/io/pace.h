// pace.h — what a connection is doing, since when, and whether that takes too long.
//
// Units:   times are the loop's clock, which its sweep moves: a whole sweep is added to each limit, so that none comes early.
// Threads: one loop.
#pragma once

#include <chrono>
#include <cstdint>

#include "io/connection.h"

namespace hengshi::io {

enum class Phase : uint8_t { kHandshake, kIdle, kHead, kBody, kHandling, kWriting, kLinger, kClosed };

enum class Overdue : uint8_t { kNo, kClose, kTell };  // kTell: the client is owed a word before it is closed

class Pace {
 public:
  Pace(const LoopShared& loop, Phase first) : loop_(loop), phase_(first), stamp_(loop.now) {}

  Phase phase() const { return phase_; }
  bool is(Phase phase) const { return phase_ == phase; }
  // Also counts as progress. What is closed stays so.
  void enter(Phase phase) {
    if (phase_ == Phase::kClosed) return;
    phase_ = phase;
    stamp_ = loop_.now;
  }

  Overdue overdue() const {
    const ServerOptions& limits = loop_.options;
    switch (phase_) {
      case Phase::kHandshake: return after(limits.header_timeout, Overdue::kClose);
      case Phase::kIdle: return after(limits.idle_timeout, Overdue::kClose);
      case Phase::kHead: return after(limits.header_timeout, Overdue::kTell);
      case Phase::kBody: return after(limits.body_timeout, Overdue::kTell);
      case Phase::kWriting: return after(limits.write_timeout, Overdue::kClose);
      case Phase::kLinger: return after(kLingerTimeout, Overdue::kClose);
      case Phase::kHandling:
      case Phase::kClosed: break;
    }
    return Overdue::kNo;
  }

 private:
  static constexpr std::chrono::seconds kLingerTimeout{2};  // without a byte from a client that is to be cut off

  Overdue after(std::chrono::nanoseconds limit, Overdue then) const {
    return loop_.now - stamp_ > limit + loop_.sweep_period ? then : Overdue::kNo;
  }

  const LoopShared& loop_;
  Phase phase_;
  Monotonic stamp_;  // when this phase began or last made progress
};

}  // namespace hengshi::io
