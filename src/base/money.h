// money.h — what a call cost, in integers.
//
// Units:   cost in millionths of a US dollar; prices in the same unit per million tokens.
// Threads: values.
#pragma once

#include <cstdint>

namespace hengshi {

struct Price {  // per million tokens
  int64_t input_micro_usd = 0;
  int64_t cached_micro_usd = 0;
  int64_t output_micro_usd = 0;

  bool operator==(const Price&) const = default;
};

// Rounds half up once, over the whole call, so that parts never add up to more than the bill.
inline int64_t cost_micro_usd(const Price& price, int64_t input, int64_t cached, int64_t output) {
  const int64_t exact =
      (input - cached) * price.input_micro_usd + cached * price.cached_micro_usd + output * price.output_micro_usd;
  return (exact + 500'000) / 1'000'000;
}

}  // namespace hengshi
