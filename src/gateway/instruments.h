// instruments.h — the metrics of finished requests, looked up once per tenant and loop.
//
// Threads: one Instruments per loop.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/metrics.h"
#include "gateway/path.h"

namespace hengshi::gateway {

class Instruments {
 public:
  explicit Instruments(Metrics& metrics) : metrics_(metrics) {}

  struct Finished {
    std::string_view tenant;
    Path path;
    int status;
    std::chrono::nanoseconds elapsed;
    int64_t prompt_tokens, completion_tokens, saved_tokens, cost_micro_usd;
  };
  void finished(const Finished& request);
  // A part that failed and was done without.
  void fail_open(std::string_view part);

 private:
  struct PerTenant {
    std::array<Counter*, kPaths> requests{};
    Counter* prompt_tokens;
    Counter* completion_tokens;
    Counter* saved_tokens;
    Counter* cost;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  PerTenant& tenant(std::string_view name);

  Metrics& metrics_;
  std::unordered_map<std::string, PerTenant, Hash, std::equal_to<>> tenants_;
  std::array<Histogram*, kPaths> seconds_{};
};

}  // namespace hengshi::gateway
