#include "train/risk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hengshi::train {

namespace {

constexpr double kStep = 0.025;              // of log-odds between two thresholds
constexpr int kStricter = 80, kLaxer = 240;  // steps on either side of the confidence 1 - risk
constexpr double kMainShare = 0.7;           // of delta, for the step where a calibrated model has most to show
constexpr double kNuisance = 0.02;           // of a level, for each of two bounds on what is not asked
constexpr int kDepth = 12;                   // halvings of the nuisance interval
constexpr double kMostScaled = 1e5;          // labels; who needs more is told that no number would do

// P(X <= k) for k = 0 … most of a binomial, without underflow for any n.
std::vector<double> binomial_cdf(size_t n, double p, size_t most) {
  std::vector<double> out;
  const double log_odds = std::log(p) - std::log1p(-p);
  double log_mass = static_cast<double>(n) * std::log1p(-p), sum = 0;
  for (size_t k = 0; k <= std::min(most, n); ++k) {
    if (p <= 0) {
      sum = 1;
    } else if (p >= 1) {
      sum = k == n ? 1 : 0;
    } else {
      sum += std::exp(log_mass);
      log_mass += std::log(static_cast<double>(n - k)) - std::log(static_cast<double>(k + 1)) + log_odds;
    }
    out.push_back(std::min(sum, 1.0));
  }
  return out;
}

// The lower end of a one-sided interval of a share, by Chernoff's bound: n KL(k / n, p) = log(1 / beta).
double lower_end(size_t k, size_t n, double beta) {
  const double share = static_cast<double>(k) / static_cast<double>(n);
  const double wanted = -std::log(beta) / static_cast<double>(n);
  double lo = 0, hi = share;
  for (int i = 0; i < 60; ++i) {
    const double p = (lo + hi) / 2;
    const double kl =
        (share > 0 ? share * std::log(share / p) : 0) + (share < 1 ? (1 - share) * std::log((1 - share) / (1 - p)) : 0);
    (kl > wanted ? lo : hi) = p;
  }
  return lo;
}

// Two samples, seen through T = in_weight x wrong / answered + out_weight x answered_outside / out_of_scope.
class TwoSamples {
 public:
  TwoSamples(const RiskCounts& counts, double risk, double share, double level)
      : n_in_(counts.answered), n_out_(counts.out_of_scope), risk_(risk), level_(level * (1 - 2 * kNuisance)) {
    in_weight_ = (1 - share) * lower_end(counts.answered, counts.in_scope, level * kNuisance);
    out_weight_ = share * (1 - risk);
    fewest_ = lower_end(counts.wrong, counts.answered, level * kNuisance);
    observed_ = in_weight_ * static_cast<double>(counts.wrong) / static_cast<double>(n_in_) +
                out_weight_ * static_cast<double>(counts.answered_outside) / static_cast<double>(n_out_) + 1e-12;
  }

  bool rejects() const {
    if (in_weight_ <= 0 || fewest_ >= risk_) return false;
    return below(std::max(fewest_, risk_ - out_weight_ / in_weight_), risk_, kDepth);
  }

 private:
  // What share of out-of-scope questions may be answered at most, given the share of wrong ones in scope.
  double outside(double wrong) const { return std::clamp(in_weight_ * (risk_ - wrong) / out_weight_, 0.0, 1.0); }

  double tail(double wrong, double out) const {  // P(T <= observed)
    const double per_in = in_weight_ / static_cast<double>(n_in_), per_out = out_weight_ / static_cast<double>(n_out_);
    const auto most = [](double left, double per, size_t n) {
      return static_cast<size_t>(std::clamp(left / per, 0.0, static_cast<double>(n)));
    };
    const std::vector<double> in = binomial_cdf(n_in_, wrong, most(observed_, per_in, n_in_));
    const std::vector<double> outs = binomial_cdf(n_out_, out, most(observed_, per_out, n_out_));
    double sum = 0;
    for (size_t k = 0; k < outs.size(); ++k) {
      const double mass = outs[k] - (k > 0 ? outs[k - 1] : 0);
      sum += mass * in[most(observed_ - per_out * static_cast<double>(k), per_in, n_in_)];
    }
    return sum;
  }

  // The tail falls in both shares, and along the edge of the hypothesis one rises as the other falls: the corner below
  // and left of a stretch of the edge bounds all of it.
  bool below(double lo, double hi, int depth) const {
    if (tail(lo, outside(hi)) <= level_) return true;
    if (depth == 0) return false;
    const double middle = (lo + hi) / 2;
    if (tail(middle, outside(middle)) > level_) return false;
    return below(lo, middle, depth - 1) && below(middle, hi, depth - 1);
  }

  size_t n_in_, n_out_;
  double risk_, level_;
  double in_weight_ = 0, out_weight_ = 0, fewest_ = 0, observed_ = 0;
};

bool rejects_one_sample(size_t wrong, size_t answered, double risk, double level) {
  return answered > 0 && binomial_cdf(answered, risk, wrong).back() <= level;
}

std::vector<RiskCounts> count(std::span<const Scored> rows, std::span<const RiskStep> steps) {
  std::vector<RiskCounts> out(steps.size());
  RiskCounts all;
  for (const Scored& row : rows) (row.in_scope ? all.in_scope : all.out_of_scope) += 1;
  for (size_t i = 0; i < steps.size(); ++i) {
    RiskCounts& at = out[i];
    at = all;
    for (const Scored& row : rows) {
      if (row.refused || row.confidence < steps[i].threshold) continue;
      (row.in_scope ? at.answered : at.answered_outside) += 1;
      if (row.in_scope && !row.right) ++at.wrong;
    }
  }
  return out;
}

RiskCounts scaled(const RiskCounts& counts, double by) {
  const auto times = [by](size_t n) { return static_cast<size_t>(std::lround(by * static_cast<double>(n))); };
  return {times(counts.in_scope), times(counts.answered), times(counts.wrong), times(counts.out_of_scope),
          times(counts.answered_outside)};
}

// Labels that would certify one step, at the rates seen; 0: none.
double needed_at(const RiskCounts& counts, const RiskAim& aim, double level, double labels) {
  double hi = 1;
  while (!rejects_risk(scaled(counts, hi), aim, level)) {
    hi *= 2;
    if (hi * labels > kMostScaled) return 0;
  }
  double lo = hi / 2;
  for (int i = 0; i < 4; ++i) {
    const double middle = (lo + hi) / 2;
    (rejects_risk(scaled(counts, middle), aim, level) ? hi : lo) = middle;
  }
  return hi * labels;
}

double seen_risk(const RiskCounts& c, const RiskAim& aim) {
  const auto n = [](size_t x) { return static_cast<double>(x); };
  double in = 1, out = 1;
  if (aim.oos_share) {
    in = c.in_scope > 0 ? (1 - *aim.oos_share) / n(c.in_scope) : 0;
    out = c.out_of_scope > 0 ? *aim.oos_share / n(c.out_of_scope) : 0;
  }
  const double answered = in * n(c.answered) + out * n(c.answered_outside);
  return answered > 0 ? (in * n(c.wrong) + out * n(c.answered_outside)) / answered : 1;
}

// Where nothing is certified, nothing is handed down: one of the steps with a share of its own must be the first.
size_t labels_needed(std::span<const RiskStep> steps, std::span<const RiskCounts> counts, const RiskAim& aim,
                     size_t labels) {
  double least = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i].share <= 0 || seen_risk(counts[i], aim) >= aim.risk) continue;
    const double needed = needed_at(counts[i], aim, aim.delta * steps[i].share, static_cast<double>(labels));
    if (needed > 0 && (least == 0 || needed < least)) least = needed;
  }
  return static_cast<size_t>(std::ceil(least));
}

}  // namespace

std::vector<RiskStep> risk_steps(double risk) {
  std::vector<RiskStep> out;
  const double middle = std::log((1 - risk) / risk);
  const auto share_of = [](int k) {
    return k == 0 ? kMainShare : k == kStricter || k == kStricter / 2 ? 0.05 : k == -kStricter / 2 ? 0.2 : 0.0;
  };
  for (int k = kStricter; k >= -kLaxer; --k) {
    out.push_back({k == 0 ? 1 - risk : 1 / (1 + std::exp(-(middle + k * kStep))), share_of(k)});
  }
  return out;
}

bool rejects_risk(const RiskCounts& counts, const RiskAim& aim, double level) {
  if (!aim.oos_share) {
    return rejects_one_sample(counts.wrong + counts.answered_outside, counts.answered + counts.answered_outside,
                              aim.risk, level);
  }
  if (*aim.oos_share <= 0) return rejects_one_sample(counts.wrong, counts.answered, aim.risk, level);
  if (counts.answered == 0 || counts.out_of_scope == 0) return false;
  return TwoSamples(counts, aim.risk, *aim.oos_share, level).rejects();
}

Certificate certify(std::span<const Scored> rows, const RiskAim& aim) {
  const std::vector<RiskStep> steps = risk_steps(aim.risk);
  const std::vector<RiskCounts> counts = count(rows, steps);
  std::vector<bool> rejected(steps.size());
  const auto last = last_certified(std::span<const RiskStep>(steps), aim.delta, [&](size_t i, double level) {
    rejected[i] = rejects_risk(counts[i], aim, level);
    return rejected[i];
  });
  Certificate out;
  out.labels = rows.size();
  if (!last) {
    out.needed = labels_needed(steps, counts, aim, rows.size());
    return out;
  }
  // Every step that was rejected on the way may be used. Where laxer ones answer no row more, the confidence itself is all
  // there is to go by, and that says 1 - risk.
  size_t chosen = *last;
  const auto same = [&](size_t i) {
    return counts[i].answered == counts[*last].answered && counts[i].answered_outside == counts[*last].answered_outside;
  };
  while (chosen > kStricter && rejected[chosen - 1] && same(chosen - 1)) --chosen;
  out.certified = true;
  out.threshold = steps[chosen].threshold;
  out.counts = counts[chosen];
  return out;
}

std::string certified_how(const Certificate& one, const RiskAim& aim, std::string_view rows) {
  const RiskCounts& c = one.counts;
  return fmt::format(
      "certified by Learn-then-Test on {} {} ({} in scope and {} out of scope answered, {} of them wrong{}): at most "
      "{:g} % "
      "wrong among answered, with probability {:g} %",
      one.labels, rows, c.answered, c.answered_outside, c.wrong + c.answered_outside,
      aim.oos_share ? fmt::format("; out of scope weighed to {:.3g} %", 100 * *aim.oos_share) : "", 100 * aim.risk,
      100 * (1 - aim.delta));
}

}  // namespace hengshi::train
