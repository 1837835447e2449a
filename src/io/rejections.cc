#include "io/rejections.h"

namespace hengshi::io {

Rejections::Rejections(Metrics& metrics)
    : bad_request(counter(metrics, "bad_request")),
      timeout(counter(metrics, "timeout")),
      body_too_large(counter(metrics, "body_too_large")),
      head_too_large(counter(metrics, "headers_too_large")),
      overloaded(counter(metrics, "overloaded")) {}

Counter& Rejections::counter(Metrics& metrics, const char* reason) {
  return metrics.counter("hengshi_http_rejected_total", "Requests refused before any handler saw them",
                         {{"reason", reason}});
}

Counter& Rejections::of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kRequestTimeout: return timeout;
    case ErrorCode::kTooLarge: return body_too_large;
    case ErrorCode::kHeadersTooLarge: return head_too_large;
    case ErrorCode::kOverloaded: return overloaded;
    default: return bad_request;
  }
}

}  // namespace hengshi::io
