#include "upstream/tally.h"

namespace hengshi::upstream {

Outcome outcome_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kCancelled: return Outcome::kCancelled;
    case ErrorCode::kDeadline: return Outcome::kTimeout;
    case ErrorCode::kRateLimited: return Outcome::kRateLimited;
    case ErrorCode::kOverloaded: return Outcome::kOverloaded;
    case ErrorCode::kInvalidRequest:
    case ErrorCode::kNotFound:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnprocessable: return Outcome::kRefused;
    default: return Outcome::kError;
  }
}

Instruments::Instruments(Metrics& metrics, const std::string& upstream)
    : requests(),
      first_token(metrics.histogram("hengshi_upstream_seconds", "From a call to its first visible token",
                                    {{"upstream", upstream}})),
      in_flight(metrics.gauge("hengshi_upstream_in_flight", "Calls that hold a place", {{"upstream", upstream}})),
      queue_depth(
          metrics.gauge("hengshi_upstream_queue_depth", "Calls waiting for a place", {{"upstream", upstream}})) {
  for (size_t i = 0; i < kOutcomeNames.size(); ++i) {
    requests[i] = &metrics.counter("hengshi_upstream_requests_total", "Calls by how they ended",
                                   {{"upstream", upstream}, {"outcome", kOutcomeNames[i]}});
  }
}

}  // namespace hengshi::upstream
