// fake_stats.h — what the fake upstream has seen: counts, bodies, and how far its answers had come.
//
// Threads: counts from any loop; the last request and the bodies under the mutex.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <unordered_set>

#include "base/digest.h"
#include "fake_answer.h"
#include "io/server.h"

namespace fake {

namespace io = hengshi::io;

// How far an answer has come.
enum class Phase : uint8_t { kBeforeHeaders, kBeforeFirstToken, kMidStream, kDone };
using PerPhase = std::array<std::atomic<int64_t>, 3>;  // all but kDone

struct Stats {
  std::atomic<int64_t> requests = 0, completed = 0, faults = 0;
  PerPhase open = {};       // answers under way
  PerPhase cancelled = {};  // clients that left

  std::mutex mutex;  // of the rest
  std::unordered_set<hengshi::Digest, hengshi::DigestHash> bodies;
  io::HttpRequest last;

  void remember(const io::HttpRequest& request) {
    constexpr size_t kMostBodies = 1'000'000;
    ++requests;
    const hengshi::Digest digest = hengshi::digest(request.body);
    const std::lock_guard lock(mutex);
    last = request;
    if (bodies.size() < kMostBodies) bodies.insert(digest);
  }
};

inline std::string phases_json(const PerPhase& counts) {
  return "{\"before_headers\":" + std::to_string(counts[0]) + ",\"before_first_token\":" + std::to_string(counts[1]) +
         ",\"mid_stream\":" + std::to_string(counts[2]) + "}";
}

inline std::string stats_json(Stats& stats) {
  const std::lock_guard lock(stats.mutex);
  std::string out =
      "{\"requests\":" + std::to_string(stats.requests) + ",\"completed\":" + std::to_string(stats.completed);
  out += ",\"faults\":" + std::to_string(stats.faults);
  out += ",\"open\":" + phases_json(stats.open);
  out += ",\"cancelled\":" + phases_json(stats.cancelled);
  return out + ",\"distinct_bodies\":" + std::to_string(stats.bodies.size()) + "}";
}

inline std::string last_json(Stats& stats) {
  const std::lock_guard lock(stats.mutex);
  std::string out = "{\"target\":" + json_string(stats.last.target) + ",\"headers\":[";
  for (const auto& [name, value] : stats.last.headers) {
    if (out.back() != '[') out += ',';
    out += "[" + json_string(name) + "," + json_string(value) + "]";
  }
  return out + "],\"body\":" + json_string(stats.last.body) + "}";
}

}  // namespace fake
