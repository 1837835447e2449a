#include "train/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "train/rng.h"

namespace hengshi::train {

namespace {

constexpr size_t kBins = 15;
constexpr int kResamples = 1000, kSimulations = 200;

double percent(double part, double whole) { return whole > 0 ? 100 * part / whole : 0; }

// A refused question ranks below every answered one.
float rank_key(const Scored& row) { return row.refused ? row.confidence - 1 : row.confidence; }

// From high to low; equal ones as they stand.
std::vector<size_t> order_by(std::span<const Scored> rows, auto&& key) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const float left = key(rows[a]), right = key(rows[b]);
    return left != right ? left > right : a < b;
  });
  return order;
}

// What each row counts: together 1 where a share is stated, else 1 each.
std::vector<double> weights_of(std::span<const Scored> rows, std::optional<double> oos_share) {
  double in_scope = 0;
  for (const Scored& row : rows) in_scope += row.in_scope ? 1 : 0;
  const double outside = static_cast<double>(rows.size()) - in_scope;
  std::vector<double> out;
  for (const Scored& row : rows) {
    const bool plain = !oos_share || outside == 0 || in_scope == 0;
    out.push_back(plain ? 1 : row.in_scope ? (1 - *oos_share) / in_scope : *oos_share / outside);
  }
  return out;
}

double binned_error(std::span<const double> confidence, std::span<const double> right, std::span<const double> weight) {
  const double total = std::accumulate(weight.begin(), weight.end(), 0.0);
  double error = 0, sum_confidence = 0, sum_right = 0, mass = 0, seen = 0;
  size_t bin = 1;
  for (size_t i = 0; i < confidence.size(); ++i) {
    sum_confidence += weight[i] * confidence[i];
    sum_right += weight[i] * right[i];
    mass += weight[i];
    seen += weight[i];
    if (seen + 1e-9 < total * static_cast<double>(bin) / kBins) continue;
    error += std::fabs(sum_confidence - sum_right);
    sum_confidence = sum_right = mass = 0;
    ++bin;
  }
  return total > 0 ? (error + std::fabs(sum_confidence - sum_right)) / total : 0;
}

}  // namespace

double accuracy(std::span<const Scored> rows) {
  double right = 0, all = 0;
  for (const Scored& row : rows) {
    if (!row.in_scope) continue;
    all += 1;
    right += row.right && !row.called_outside ? 1 : 0;
  }
  return percent(right, all);
}

double oos_auroc(std::span<const Scored> rows) {
  const auto scope_key = [](const Scored& row) { return row.refused ? row.scope - 1 : row.scope; };
  const auto order = order_by(rows, scope_key);
  double above = 0, pairs = 0, in_scope = 0, outside = 0;
  for (size_t i = 0; i < order.size();) {
    double tied_in = 0, tied_out = 0;
    const float key = scope_key(rows[order[i]]);
    for (; i < order.size() && scope_key(rows[order[i]]) == key; ++i)
      (rows[order[i]].in_scope ? tied_in : tied_out) += 1;
    above += tied_out * (in_scope + tied_in / 2);
    in_scope += tied_in;
    outside += tied_out;
  }
  pairs = in_scope * outside;
  return percent(above, pairs);
}

AtThreshold at_threshold(std::span<const Scored> rows, double threshold, uint64_t seed,
                         std::optional<double> oos_share) {
  std::vector<uint8_t> kinds[2];  // of each sample: 0 not answered, 1 answered wrong, 2 answered right
  for (const Scored& row : rows) {
    kinds[oos_share && !row.in_scope ? 1 : 0].push_back(row.refused || row.confidence < threshold ? 0
                                                        : row.right && row.in_scope               ? 2
                                                                                                  : 1);
  }
  double weight[2] = {1, 0};
  if (oos_share) {
    const double share = kinds[1].empty() ? 0 : kinds[0].empty() ? 1 : *oos_share;
    weight[0] = kinds[0].empty() ? 0 : (1 - share) / static_cast<double>(kinds[0].size());
    weight[1] = kinds[1].empty() ? 0 : share / static_cast<double>(kinds[1].size());
  }
  const auto figures = [&](auto&& draw) {
    double count[3] = {};
    for (size_t s = 0; s < 2; ++s) {
      for (size_t i = 0; i < kinds[s].size(); ++i) count[draw(kinds[s], i)] += weight[s];
    }
    const double answered = count[1] + count[2];
    return std::pair(answered > 0 ? percent(count[2], answered) : kNoAnswers, percent(answered, answered + count[0]));
  };
  AtThreshold out;
  std::tie(out.precision, out.coverage) = figures([](const auto& from, size_t i) { return from[i]; });
  std::vector<double> precisions, coverages;
  Rng rng(seed);
  for (int r = 0; r < kResamples && !rows.empty(); ++r) {
    const auto [precision, coverage] = figures([&](const auto& from, size_t) { return from[rng.below(from.size())]; });
    if (coverage > 0) precisions.push_back(precision);  // of no answers there is none
    coverages.push_back(coverage);
  }
  const auto interval = [](std::vector<double>& of, double& lo, double& hi) {
    if (of.empty()) return;
    std::sort(of.begin(), of.end());
    lo = of[of.size() * 25 / 1000];
    hi = of[of.size() * 975 / 1000];
  };
  interval(precisions, out.precision_lo, out.precision_hi);
  interval(coverages, out.coverage_lo, out.coverage_hi);
  return out;
}

double oracle_coverage(std::span<const Scored> rows, double precision) {
  const auto order = order_by(rows, rank_key);
  double right = 0, best = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Scored& row = rows[order[i]];
    if (row.refused) break;
    right += row.right && row.in_scope ? 1 : 0;
    if (i + 1 < order.size() && rank_key(rows[order[i + 1]]) == rank_key(row)) continue;
    if (right >= precision * static_cast<double>(i + 1)) best = static_cast<double>(i + 1);
  }
  return percent(best, static_cast<double>(rows.size()));
}

Ece calibration_error(std::span<const Scored> rows, std::optional<double> oos_share, uint64_t seed) {
  const auto order = order_by(rows, [](const Scored& row) { return row.confidence; });
  const std::vector<double> weights = weights_of(rows, oos_share);
  std::vector<double> confidence, right, weight;
  for (const size_t i : order) {
    confidence.push_back(rows[i].confidence);
    right.push_back(rows[i].right && rows[i].in_scope ? 1 : 0);
    weight.push_back(weights[i]);
  }
  Ece out;
  out.ece = binned_error(confidence, right, weight);
  Rng rng(seed);
  for (int s = 0; s < kSimulations; ++s) {
    for (size_t i = 0; i < right.size(); ++i) right[i] = rng.uniform() < confidence[i] ? 1 : 0;
    out.floor += binned_error(confidence, right, weight) / kSimulations;
  }
  return out;
}

double brier(std::span<const Scored> rows, std::optional<double> oos_share) {
  const std::vector<double> weights = weights_of(rows, oos_share);
  double sum = 0, total = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    const double error = rows[i].confidence - (rows[i].right && rows[i].in_scope ? 1.0 : 0.0);
    sum += weights[i] * error * error;
    total += weights[i];
  }
  return total > 0 ? sum / total : 0;
}

Interval wilson(double share, double n) {
  constexpr double kZ = 1.959964;
  if (n <= 0) return {};
  const double middle = share + kZ * kZ / (2 * n);
  const double half = kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  return {std::max(0.0, (middle - half) / (1 + kZ * kZ / n)), std::min(1.0, (middle + half) / (1 + kZ * kZ / n))};
}

std::vector<RiskPoint> risk_coverage(std::span<const Scored> rows, std::optional<double> oos_share) {
  const auto order = order_by(rows, rank_key);
  const std::vector<double> weights = weights_of(rows, oos_share);
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  double answered = 0, squares = 0, wrong = 0;
  std::vector<RiskPoint> out;
  for (size_t i = 0; i < order.size(); ++i) {
    const Scored& row = rows[order[i]];
    if (row.refused) break;
    const double weight = weights[order[i]];
    answered += weight;
    squares += weight * weight;
    wrong += row.right && row.in_scope ? 0 : weight;
    if (i + 1 < order.size() && rank_key(rows[order[i + 1]]) == rank_key(row)) continue;
    if (answered <= 0) continue;
    const double risk = std::clamp(wrong / answered, 0.0, 1.0);
    const Interval range = wilson(risk, answered * answered / squares);
    out.push_back({row.confidence, answered / total, risk, range.lo, range.hi});
  }
  return out;
}

}  // namespace hengshi::train
