// metrics.h — what docs call accuracy, AUROC, coverage at a precision and ECE, over scored test questions.
//
// Units:   shares in percent, ECE, Brier score and risks plain numbers.
// Errors:  none: an empty side gives 0.
// Threads: pure.
// Source:  Geifman & El-Yaniv 2017 (coverage at a risk); Naeini et al. 2015 (ECE, here with equal-mass bins);
//          Brier 1950; Wilson 1927.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace hengshi::train {

struct Scored {
  float confidence = 0;
  bool right = false;    // the intent named is the question's
  bool refused = false;  // not answered, whatever the confidence
  bool in_scope = true;
  bool called_outside = false;  // refused as out of scope
  float scope = 0;              // probability that it is in scope
};

// Of in-scope rows; called out of scope counts as wrong, otherwise refused does not: no more than a low confidence does.
double accuracy(std::span<const Scored> rows);
double oos_auroc(std::span<const Scored> rows);

inline constexpr double kNoAnswers = std::numeric_limits<double>::quiet_NaN();  // of none there is no precision

struct AtThreshold {
  double precision = kNoAnswers, precision_lo = kNoAnswers, precision_hi = kNoAnswers;
  double coverage = 0, coverage_lo = 0, coverage_hi = 0;
};
// With bootstrap 95 % intervals. Where a share is stated, in-scope and out-of-scope rows are two samples weighted to it.
AtThreshold at_threshold(std::span<const Scored> rows, double threshold, uint64_t seed,
                         std::optional<double> oos_share = {});

double oracle_coverage(std::span<const Scored> rows, double precision);  // threshold picked on these rows

struct Ece {
  double ece = 0, floor = 0;  // floor: what perfect calibration would show on as many rows
};
// Out-of-scope rows count as much as the share says; without one, as they stand.
Ece calibration_error(std::span<const Scored> rows, std::optional<double> oos_share, uint64_t seed);
double brier(std::span<const Scored> rows, std::optional<double> oos_share);

// Of the rows above each confidence, from strict to lax: the share of all rows they are, the share of them that is wrong,
// and Wilson's 95 % interval of it.
struct RiskPoint {
  double threshold = 1, coverage = 0, risk = 0, lo = 0, hi = 0;
};
std::vector<RiskPoint> risk_coverage(std::span<const Scored> rows, std::optional<double> oos_share);

struct Interval {
  double lo = 0, hi = 1;
};
Interval wilson(double share, double n);  // two-sided 95 %, of a share in [0, 1]

}  // namespace hengshi::train
