// metrics.h — counters, gauges and histograms in Prometheus' text format.
//
// Units:   histogram seconds in, seconds out.
// Errors:  asking twice for one name and label set gives the same instrument; a name of another kind is a CHECK.
// Threads: instruments are atomics and live as long as the registry: look one up once, then use it from any thread.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hengshi {

class Counter {
 public:
  void add(int64_t by = 1) { value_.fetch_add(by, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_ = 0;
};

class Gauge {
 public:
  void set(int64_t to) { value_.store(to, std::memory_order_relaxed); }
  void add(int64_t by) { value_.fetch_add(by, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_ = 0;
};

class Histogram {
 public:
  // 50 µs … 60 s: from an exact hit to a long stream.
  static constexpr std::array kBoundsSeconds = {5e-5, 1e-4, 2.5e-4, 5e-4, 1e-3, 2.5e-3, 5e-3, 1e-2, 2.5e-2, 5e-2,
                                                0.1,  0.25, 0.5,    1.0,  1.5,  2.5,    5.0,  10.0, 30.0,   60.0};
  void observe(std::chrono::nanoseconds elapsed);
  int64_t count() const;
  void render(std::string& out, std::string_view name, std::string_view labels) const;

 private:
  std::array<std::atomic<int64_t>, kBoundsSeconds.size() + 1> buckets_ = {};
  std::atomic<int64_t> sum_ns_ = 0;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

class Metrics {
 public:
  Counter& counter(std::string_view name, std::string_view help, const Labels& labels = {});
  Gauge& gauge(std::string_view name, std::string_view help, const Labels& labels = {});
  Histogram& histogram(std::string_view name, std::string_view help, const Labels& labels = {});
  std::string render() const;

 private:
  enum class Kind { kCounter, kGauge, kHistogram };
  struct Family {
    Kind kind;
    std::string help;
    std::map<std::string, size_t> series;  // rendered labels -> index into the deque of its kind
  };
  size_t index(Kind kind, std::string_view name, std::string_view help, const Labels& labels, size_t next);

  mutable std::mutex mutex_;
  std::map<std::string, Family, std::less<>> families_;
  std::deque<Counter> counters_;  // Deques: instruments never move.
  std::deque<Gauge> gauges_;
  std::deque<Histogram> histograms_;
};

}  // namespace hengshi
