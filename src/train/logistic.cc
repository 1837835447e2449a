#include "train/logistic.h"

#include <algorithm>
#include <cmath>

namespace hengshi::train {

namespace {

constexpr int kNewtonSteps = 30;
constexpr double kTrace = 1e-3;

// Solves a symmetric positive definite system by Cholesky, in place; the answer is left in b.
void solve(std::vector<double>& a, std::vector<double>& b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) sum -= a[i * n + k] * a[j * n + k];
      a[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / a[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) b[i] -= a[i * n + k] * b[k];
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) b[i] -= a[k * n + i] * b[k];
    b[i] /= a[i * n + i];
  }
}

}  // namespace

double log_odds(std::span<const double> weights, std::span<const double> row) {
  double sum = weights.back();
  for (size_t i = 0; i < row.size(); ++i) sum += weights[i] * row[i];
  return sum;
}

std::vector<double> fit_logistic(const LogisticData& data, double l2) {
  const size_t n = data.features + 1;
  std::vector<double> weights(n, 0.0);
  for (int round = 0; round < kNewtonSteps; ++round) {
    std::vector<double> hessian(n * n, 0.0), step(n, 0.0);
    for (size_t k = 0; k < n; ++k) {
      const double penalty = k + 1 < n ? l2 : kTrace;
      hessian[k * n + k] = penalty;
      step[k] = penalty * weights[k];
    }
    for (size_t r = 0; r < data.right.size(); ++r) {
      const std::span<const double> row(&data.rows[r * data.features], data.features);
      const double p = 1 / (1 + std::exp(-log_odds(weights, row)));
      const double slope = data.weight[r] * (p - data.right[r]);
      const double bend = data.weight[r] * std::max(p * (1 - p), 1e-6);
      for (size_t i = 0; i < n; ++i) {
        const double xi = i + 1 < n ? row[i] : 1;
        step[i] += slope * xi;
        for (size_t j = 0; j <= i; ++j) hessian[i * n + j] += bend * xi * (j + 1 < n ? row[j] : 1);
      }
    }
    solve(hessian, step);
    double moved = 0;
    for (size_t k = 0; k < n; ++k) {
      const double by = std::clamp(step[k], -4.0, 4.0);  // a far start must not overshoot
      weights[k] -= by;
      moved = std::max(moved, std::fabs(by));
    }
    if (moved < 1e-8) break;
  }
  return weights;
}

}  // namespace hengshi::train
