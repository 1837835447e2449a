// tally.h — an upstream's instruments, and the one outcome that each call to it is counted with.
//
// Threads: Instruments from any thread; a Tally belongs to its call.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/metrics.h"
#include "base/result.h"

namespace hengshi::upstream {

enum class Outcome { kOk, kCancelled, kTimeout, kRateLimited, kOverloaded, kRefused, kError };
inline constexpr std::array kOutcomeNames = {"ok",         "cancelled", "timeout", "rate_limited",
                                             "overloaded", "refused",   "error"};

Outcome outcome_of(ErrorCode code);

struct Instruments {
  Instruments(Metrics& metrics, const std::string& upstream);

  std::array<Counter*, kOutcomeNames.size()> requests;
  Histogram& first_token;
  Gauge& in_flight;
  Gauge& queue_depth;
};

// A call that nobody waited for to its end is counted as cancelled.
class Tally {
 public:
  explicit Tally(const Instruments& instruments) : instruments_(&instruments) {}
  Tally(Tally&& other) noexcept : instruments_(std::exchange(other.instruments_, nullptr)) {}
  Tally& operator=(Tally&&) = delete;
  ~Tally() { end(Outcome::kCancelled); }

  void end(Outcome outcome) {
    if (instruments_ == nullptr) return;
    instruments_->requests[static_cast<size_t>(outcome)]->add();
    instruments_ = nullptr;
  }

  // Counts and hands on.
  tl::unexpected<Error> failed(Error error) {
    end(outcome_of(error.code));
    return tl::unexpected(std::move(error));
  }

 private:
  const Instruments* instruments_;  // null: counted
};

}  // namespace hengshi::upstream
