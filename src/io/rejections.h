// rejections.h — counts the requests that no handler saw: hengshi_http_rejected_total{reason}.
//
// Threads: any.
#pragma once

#include "base/metrics.h"
#include "base/result.h"

namespace hengshi::io {

struct Rejections {
  explicit Rejections(Metrics& metrics);
  Counter& of(ErrorCode code);

  Counter& bad_request;
  Counter& timeout;
  Counter& body_too_large;
  Counter& head_too_large;
  Counter& overloaded;

 private:
  static Counter& counter(Metrics& metrics, const char* reason);
};

}  // namespace hengshi::io
