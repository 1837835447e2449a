// clock.h — the time, injected, so that tests never sleep.
//
// Units:   monotonic() for durations, wall() for dates; both std::chrono.
// Threads: SystemClock and ManualClock may be read from any thread; set ManualClock from one.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

namespace hengshi {

using Monotonic = std::chrono::steady_clock::time_point;
using Wall = std::chrono::system_clock::time_point;

std::string utc(Wall at);  // 2024-01-31T12:00:00Z

class Clock {
 public:
  virtual ~Clock() = default;
  virtual Monotonic monotonic() const = 0;
  virtual Wall wall() const = 0;
};

class SystemClock final : public Clock {
 public:
  Monotonic monotonic() const override { return std::chrono::steady_clock::now(); }
  Wall wall() const override { return std::chrono::system_clock::now(); }
};

class ManualClock final : public Clock {
 public:
  Monotonic monotonic() const override { return Monotonic(std::chrono::nanoseconds(ns_.load())); }
  Wall wall() const override {
    return Wall(std::chrono::duration_cast<Wall::duration>(std::chrono::nanoseconds(ns_.load())));
  }
  void advance(std::chrono::nanoseconds by) { ns_ += by.count(); }

 private:
  std::atomic<int64_t> ns_ = 1'700'000'000'000'000'000;
};

}  // namespace hengshi
