#include "train/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>

#include "train/logistic.h"
#include "train/risk.h"
#include "train/rng.h"

namespace hengshi::train {

namespace {

constexpr size_t kCrossFits = 5;
constexpr double kL2Scope = 30, kL2Right = 1;  // unknown questions differ more from those of training than known ones
constexpr int kOffsetRounds = 20;
constexpr double kSureGain = 2;  // standard errors; a smaller gain on held-out rows has cost coverage on others
constexpr double kDelta = 0.05;  // a threshold may break its promise with this probability

double negative_log_likelihood(std::span<const HeldOut> rows, const light::Fusion& fusion) {
  std::vector<float> fused;
  double sum = 0;
  for (const HeldOut& row : rows) {
    light::fuse(fusion, row.scores, fused);
    sum -= row.weight * fused[row.label];
  }
  return sum;
}

// What a regression is of: the rows it learns from, and what it tells of them.
struct Target {
  std::vector<size_t> rows;
  bool (*holds)(const Judged&);
};

// Platt's targets: they stop short of 0 and 1 by what so many rows can tell, so that no confidence is boundless.
void add_targets(std::span<const Judged> rows, const Target& target, LogisticData& data) {
  double count[2] = {};
  for (const size_t i : target.rows) count[target.holds(rows[i]) ? 1 : 0] += rows[i].weight;
  for (const size_t i : target.rows) {
    data.right.push_back(target.holds(rows[i]) ? (count[1] + 1) / (count[1] + 2) : 1 / (count[0] + 2));
    data.weight.push_back(rows[i].weight);
  }
}

light::Regression fit_regression(std::span<const Judged> rows, const light::Confidence& scale, const Target& target,
                                 double l2) {
  LogisticData data;
  data.features = light::kSignals;
  for (const size_t i : target.rows) {
    for (size_t k = 0; k < light::kSignals; ++k) {
      data.rows.push_back((rows[i].signals[k] - scale.mean[k]) / scale.deviation[k]);
    }
  }
  add_targets(rows, target, data);
  const std::vector<double> fitted = fit_logistic(data, l2);
  light::Regression out;
  for (size_t k = 0; k < light::kSignals; ++k) out.weight[k] = static_cast<float>(fitted[k]);
  out.bias = static_cast<float>(fitted.back());
  return out;
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

std::vector<size_t> random_folds(size_t count, uint64_t seed) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t{0});
  Rng rng(seed);
  rng.shuffle(order);
  std::vector<size_t> fold(count);
  for (size_t i = 0; i < order.size(); ++i) fold[order[i]] = i % kCrossFits;
  return fold;
}

Target without_fold(const Target& target, std::span<const size_t> fold, size_t f) {
  Target out{{}, target.holds};
  std::copy_if(target.rows.begin(), target.rows.end(), std::back_inserter(out.rows),
               [&](size_t i) { return fold[i] != f; });
  return out;
}

// Each row's log-odds by a regression fitted to the other folds.
std::vector<double> cross_fit(std::span<const Judged> rows, const light::Confidence& scale, const Target& target,
                              double l2, std::span<const size_t> fold) {
  std::vector<double> out(rows.size());
  for (size_t f = 0; f < kCrossFits; ++f) {
    const light::Regression fitted = fit_regression(rows, scale, without_fold(target, fold, f), l2);
    for (size_t i = 0; i < rows.size(); ++i) {
      if (fold[i] == f) out[i] = scale.log_odds(fitted, rows[i].signals, rows[i].intent);
    }
  }
  return out;
}

double log_loss(double log_odds, bool right) {
  const double margin = right ? log_odds : -log_odds;
  return margin > 0 ? std::log1p(std::exp(-margin)) : -margin + std::log1p(std::exp(margin));
}

struct Bend {  // of the loss of an intent's rows in its offset
  double slope = 0, curve = 0;
};

Bend bend_of(std::span<const Judged> rows, std::span<const double> log_odds, const Target& of, double offset) {
  Bend out;
  for (const size_t i : of.rows) {
    const double p = 1 / (1 + std::exp(-(log_odds[i] + offset)));
    out.slope += rows[i].weight * (p - (of.holds(rows[i]) ? 1 : 0));
    out.curve += rows[i].weight * p * (1 - p);
  }
  return out;
}

// Offsets drawn from a normal law whose variance is learned from all intents (EM with Laplace's approximation).
std::vector<double> fit_offsets(std::span<const Judged> rows, std::span<const double> log_odds,
                                const std::vector<Target>& of_intent) {
  std::vector<double> out(of_intent.size(), 0.0);
  double variance = 0.25;
  for (int round = 0; round < kOffsetRounds; ++round) {
    double sum = 0, count = 0;
    for (size_t k = 0; k < of_intent.size(); ++k) {
      if (of_intent[k].rows.empty()) continue;
      Bend bend;
      for (int step = 0; step < 3; ++step) {
        bend = bend_of(rows, log_odds, of_intent[k], out[k]);
        out[k] -= std::clamp((bend.slope + out[k] / variance) / (bend.curve + 1 / variance), -1.0, 1.0);
      }
      sum += out[k] * out[k] + 1 / (bend.curve + 1 / variance);
      ++count;
    }
    if (count > 0) variance = std::max(sum / count, 1e-4);
  }
  return out;
}

std::vector<Target> by_intent(std::span<const Judged> rows, const Target& target, size_t intents) {
  std::vector<Target> out(intents, Target{{}, target.holds});
  for (const size_t i : target.rows) out[rows[i].intent].rows.push_back(i);
  return out;
}

// What is particular to the intents, if rows of another fold are likelier with it; `log_odds` then has it, cross-fitted.
std::vector<float> fit_per_intent(std::span<const Judged> rows, const Target& target, size_t intents,
                                  std::span<const size_t> fold, std::vector<double>& log_odds) {
  std::vector<double> with(log_odds);
  for (size_t f = 0; f < kCrossFits; ++f) {
    const auto offsets = fit_offsets(rows, log_odds, by_intent(rows, without_fold(target, fold, f), intents));
    for (size_t i = 0; i < rows.size(); ++i) with[i] += fold[i] == f ? offsets[rows[i].intent] : 0;
  }
  double gain = 0, squares = 0;
  for (const size_t i : target.rows) {
    const bool holds = target.holds(rows[i]);
    const double better = rows[i].weight * (log_loss(log_odds[i], holds) - log_loss(with[i], holds));
    gain += better;
    squares += better * better;
  }
  if (gain <= kSureGain * std::sqrt(squares)) return {};
  const auto offsets = fit_offsets(rows, log_odds, by_intent(rows, target, intents));
  log_odds = std::move(with);
  return {offsets.begin(), offsets.end()};
}

// Rows as two fair samples: of out-of-scope rows that weigh differently only as many stay as their weight says.
std::vector<Scored> fair_samples(std::span<const Judged> rows, std::span<const float> confidence, double& oos_share) {
  double heaviest = 0, outside = 0, all = 0;
  for (const Judged& row : rows) {
    all += row.weight;
    if (row.in_scope) continue;
    outside += row.weight;
    heaviest = std::max(heaviest, row.weight);
  }
  oos_share = all > 0 ? outside / all : 0;
  std::vector<Scored> out;
  std::map<double, double> owed;  // of each weight, the part of a row not yet taken
  for (size_t i = 0; i < rows.size(); ++i) {
    const Judged& row = rows[i];
    if (!row.in_scope) {
      double& due = owed[row.weight];
      due += row.weight / heaviest;
      if (due < 1 - 1e-9) continue;
      due -= 1;
    }
    out.push_back({confidence[i], row.right, row.refused, row.in_scope});
  }
  return out;
}

double floor_of(std::span<const Judged> rows, std::span<const float> confidence, double aim) {
  std::vector<size_t> order;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].refused) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return confidence[a] != confidence[b] ? confidence[a] > confidence[b] : a < b; });
  double right = 0, all = 0, out = 1;
  for (size_t i = 0; i < order.size(); ++i) {
    const Judged& row = rows[order[i]];
    all += row.weight;
    right += row.right ? row.weight : 0;
    if (i + 1 < order.size() && confidence[order[i + 1]] == confidence[order[i]]) continue;
    if (right / all >= aim) out = std::min<double>(confidence[order[i]], aim);
  }
  return out;
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
    out.push_back({reading.signals, row.weight, reading.intent == row.label, row.too_long,
                   row.label < row.heads->intents, reading.intent});
  }
  return out;
}

FittedConfidence fit_confidence(std::span<const Judged> rows, size_t intents, uint64_t seed) {
  FittedConfidence out;
  light::Confidence& confidence = out.confidence;
  confidence = scale_of(rows);
  const std::vector<size_t> fold = random_folds(rows.size(), seed), other = random_folds(rows.size(), seed + 1);
  // A regression for all rows; its log-odds of each by a fit that did not see it.
  const auto fit = [&](const Target& target, double l2, light::Regression& into) {
    std::vector<double> log_odds = cross_fit(rows, confidence, target, l2, fold);
    into = fit_regression(rows, confidence, target, l2);
    into.per_intent = fit_per_intent(rows, target, intents, other, log_odds);
    return log_odds;
  };
  Target scope{{}, [](const Judged& row) { return row.in_scope; }};
  Target right{{}, [](const Judged& row) { return row.right; }};
  for (size_t i = 0; i < rows.size(); ++i) {
    scope.rows.push_back(i);
    if (rows[i].in_scope) right.rows.push_back(i);
  }
  const std::vector<double> in_scope = fit(scope, kL2Scope, confidence.in_scope);
  const std::vector<double> if_so = fit(right, kL2Right, confidence.right);
  LogisticData platt{1, {}, {}, {}};
  for (size_t i = 0; i < rows.size(); ++i) {
    platt.rows.push_back(light::log_odds_of_both(static_cast<float>(in_scope[i]), static_cast<float>(if_so[i])));
    out.held_out_scope.push_back(static_cast<float>(1 / (1 + std::exp(-in_scope[i]))));
  }
  add_targets(rows, {scope.rows, right.holds}, platt);
  const std::vector<double> two = fit_logistic(platt, 1e-3);
  confidence.slope = static_cast<float>(two[0]);
  confidence.offset = static_cast<float>(two[1]);
  for (const double both : platt.rows) {
    out.held_out.push_back(static_cast<float>(1 / (1 + std::exp(-(two[0] * both + two[1])))));
  }
  return out;
}

light::Threshold choose_threshold(std::span<const Judged> rows, std::span<const float> confidence, double aim) {
  double oos_share = 0;
  const std::vector<Scored> sample = fair_samples(rows, confidence, oos_share);
  const Certificate one = certify(sample, {1 - aim, kDelta, oos_share});
  light::Threshold out{1.0, floor_of(rows, confidence, aim), aim, {}};
  if (!one.certified) {
    // Not how many: built-in questions are among them.
    const double times = static_cast<double>(one.needed) / static_cast<double>(std::max<size_t>(one.labels, 1));
    const std::string would_do = one.needed > 0 ? fmt::format("; about {:.1f} times as many would do", times) : "";
    out.how = fmt::format("no threshold is certain to reach {:g} % on {} held-out rows: never answers{}", aim * 100,
                          one.labels, would_do);
    return out;
  }
  out.value = one.threshold;
  out.floor = std::min(out.floor, out.value);
  out.how = certified_how(one, {1 - aim, kDelta, oos_share}, "held-out rows");
  return out;
}

}  // namespace hengshi::train
