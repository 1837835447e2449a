// logistic.h — a small weighted logistic regression, solved exactly.
//
// Shapes:  rows [n, features] row-major; right in [0, 1] and weight [n]; the answer is features + 1 numbers, the last
//          the bias.
// Errors:  none: the penalty keeps the solution finite even when one class is empty.
// Threads: pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hengshi::train {

struct LogisticData {
  size_t features = 0;
  std::vector<double> rows;
  std::vector<double> right;
  std::vector<double> weight;
};

// Minimises the weighted loss + l2 / 2 x the squared weights (the bias is free but for a trace), by Newton's method.
std::vector<double> fit_logistic(const LogisticData& data, double l2);

double log_odds(std::span<const double> weights, std::span<const double> row);

}  // namespace hengshi::train
