// check_gradient.h — for tests: a derivative against finite differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "tune/dice.h"

namespace hengshi::tune {

inline std::vector<float> some_values(size_t n, uint64_t seed, float spread = 1) {
  std::vector<float> out(n);
  for (size_t i = 0; i < n; ++i) out[i] = spread * roll_normal(seed, i);
  return out;
}

// `loss` is read at x moved by ±step in each coordinate (every `every`-th of them). fp32 leaves about 1e-3.
inline void check_gradient(const std::string& what, std::vector<float>& x, const std::vector<float>& gradient,
                           const std::function<double()>& loss, float step = 1e-2F, size_t every = 1,
                           double allowed = 5e-3) {
  ASSERT_EQ(x.size(), gradient.size()) << what;
  double size = 1e-3;
  for (const float g : gradient) size = std::max(size, std::fabs(static_cast<double>(g)));
  for (size_t i = 0; i < x.size(); i += every) {
    const float kept = x[i];
    x[i] = kept + step;
    const double above = loss();
    x[i] = kept - step;
    const double below = loss();
    x[i] = kept;
    EXPECT_NEAR((above - below) / (2 * static_cast<double>(step)), static_cast<double>(gradient[i]), allowed * size)
        << what << " at " << i;
  }
}

}  // namespace hengshi::tune
