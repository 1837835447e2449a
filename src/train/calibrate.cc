#include "train/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/logistic.h"
#include "train/rng.h"

namespace hengshi::train {

namespace {

constexpr size_t kCrossFits = 5;
constexpr double kL2 = 1.0;
constexpr double kOneSided95 = 1.645;

double negative_log_likelihood(std::span<const HeldOut> rows, const light::Fusion& fusion) {
  std::vector<float> fused;
  double sum = 0;
  for (const HeldOut& row : rows) {
    light::fuse(fusion, row.scores, fused);
    sum -= row.weight * fused[row.label];
  }
  return sum;
}

LogisticData standardised(std::span<const Judged> rows, const light::Confidence& scale, auto&& wanted) {
  LogisticData data;
  data.features = light::kSignals;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!wanted(i)) continue;
    for (size_t k = 0; k < light::kSignals; ++k) {
      data.rows.push_back((rows[i].signals[k] - scale.mean[k]) / scale.deviation[k]);
    }
    data.right.push_back(rows[i].right ? 1 : 0);
    data.weight.push_back(rows[i].weight);
  }
  return data;
}

light::Confidence scale_of(std::span<const Judged> rows) {
  light::Confidence out;
  double total = 0;
  for (const Judged& row : rows) total += row.weight;
  for (size_t k = 0; k < light::kSignals; ++k) {
    double sum = 0, squares = 0;
    for (const Judged& row : rows) {
      sum += row.weight * row.signals[k];
      squares += row.weight * row.signals[k] * row.signals[k];
    }
    const double mean = total > 0 ? sum / total : 0;
    const double variance = total > 0 ? squares / total - mean * mean : 0;
    out.mean[k] = static_cast<float>(mean);
    out.deviation[k] = variance > 1e-10 ? static_cast<float>(std::sqrt(variance)) : 1.0F;
  }
  return out;
}

void set_weights(light::Confidence& into, const std::vector<double>& fitted) {
  for (size_t k = 0; k < light::kSignals; ++k) into.weight[k] = static_cast<float>(fitted[k]);
  into.bias = static_cast<float>(fitted.back());
}

// Each row's score by a regression fitted to the other folds.
std::vector<double> cross_fit(std::span<const Judged> rows, const light::Confidence& scale, uint64_t seed) {
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng(seed);
  rng.shuffle(order);
  std::vector<size_t> fold(rows.size());
  for (size_t i = 0; i < order.size(); ++i) fold[order[i]] = i % kCrossFits;
  std::vector<double> out(rows.size());
  for (size_t f = 0; f < kCrossFits; ++f) {
    light::Confidence fitted = scale;
    set_weights(fitted, fit_logistic(standardised(rows, scale, [&](size_t i) { return fold[i] != f; }), kL2));
    for (size_t i = 0; i < rows.size(); ++i) {
      if (fold[i] == f) out[i] = fitted.score(rows[i].signals);
    }
  }
  return out;
}

// Platt's targets stop short of 0 and 1 by what so many rows can tell, so that no confidence is boundless.
std::vector<double> fit_platt(std::span<const Judged> rows, const std::vector<double>& scores) {
  double count[2] = {};
  for (const Judged& row : rows) count[row.right ? 1 : 0] += row.weight;
  LogisticData data{1, scores, {}, {}};
  for (const Judged& row : rows) {
    data.right.push_back(row.right ? (count[1] + 1) / (count[1] + 2) : 1 / (count[0] + 2));
    data.weight.push_back(row.weight);
  }
  return fit_logistic(data, 1e-3);
}

double lower_bound(double share, double n) {  // Wilson, one-sided 95 %
  const double z2 = kOneSided95 * kOneSided95;
  return (share + z2 / (2 * n) - kOneSided95 * std::sqrt(share * (1 - share) / n + z2 / (4 * n * n))) / (1 + z2 / n);
}

}  // namespace

light::Fusion fit_fusion(std::span<const HeldOut> rows) {
  light::Fusion best;
  double lowest = negative_log_likelihood(rows, best);
  const auto consider = [&](float ngram, float encoder) {
    const light::Fusion one{ngram, encoder};
    const double loss = negative_log_likelihood(rows, one);
    if (loss < lowest) {
      lowest = loss;
      best = one;
    }
  };
  for (float step = 0.4F; step > 0.04F; step /= 2) {  // a compass search: the loss is convex in the two numbers
    for (bool moved = true; moved;) {
      const light::Fusion at = best;
      for (const auto& [x, y] :
           {std::pair{step, 0.0F}, {-step, 0.0F}, {0.0F, step}, {0.0F, -step}, {step, step}, {-step, -step}}) {
        if (at.ngram + x >= 0 && at.encoder + y >= 0) consider(at.ngram + x, at.encoder + y);
      }
      moved = best.ngram != at.ngram || best.encoder != at.encoder;
    }
  }
  return best;
}

std::vector<Judged> judge(std::span<const HeldOut> rows, const light::Fusion& fusion) {
  std::vector<Judged> out;
  out.reserve(rows.size());
  for (const HeldOut& row : rows) {
    const light::Reading reading = light::read(*row.heads, fusion, row.scores, row.embedding);
    out.push_back({reading.signals, row.weight, reading.intent == row.label, reading.out_of_scope || row.too_long});
  }
  return out;
}

FittedConfidence fit_confidence(std::span<const Judged> rows, uint64_t seed) {
  FittedConfidence out;
  light::Confidence& confidence = out.confidence;
  confidence = scale_of(rows);
  const std::vector<double> scores = cross_fit(rows, confidence, seed);
  set_weights(confidence, fit_logistic(standardised(rows, confidence, [](size_t) { return true; }), kL2));
  const std::vector<double> two = fit_platt(rows, scores);
  confidence.slope = static_cast<float>(two[0]);
  confidence.offset = static_cast<float>(two[1]);
  for (const double score : scores)
    out.held_out.push_back(static_cast<float>(1 / (1 + std::exp(-(two[0] * score + two[1])))));
  return out;
}

light::Threshold choose_threshold(std::span<const Judged> rows, std::span<const float> confidence, double aim) {
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].refused) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return confidence[a] > confidence[b]; });
  light::Threshold out{
      1.0, 1.0, aim,
      fmt::format("no threshold reaches {:g} % on {} held-out rows: never answers", aim * 100, rows.size())};
  double right = 0, all = 0, squares = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    const Judged& row = rows[order[i]];
    all += row.weight;
    squares += row.weight * row.weight;
    right += row.right ? row.weight : 0;
    if (i + 1 < order.size() && confidence[order[i + 1]] == confidence[order[i]]) continue;
    if (right / all >= aim) out.floor = std::min<double>(confidence[order[i]], aim);
    if (all <= 0 || lower_bound(right / all, all * all / squares) < aim) continue;
    // Below the last held-out row nothing was seen to go wrong; the confidence itself is all there is to go by.
    out.value = i + 1 < order.size() ? confidence[order[i]] : std::min<double>(confidence[order[i]], aim);
    out.how = fmt::format(
        "lowest confidence whose precision on held-out rows ({} of {} answered, {:.1f} % right by weight) is at least "
        "{:g} % by the one-sided 95 % Wilson bound",
        i + 1, rows.size(), 100 * right / all, aim * 100);
  }
  return out;
}

}  // namespace hengshi::train
