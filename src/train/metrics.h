// metrics.h — what docs call accuracy, AUROC, coverage at a precision and ECE, over scored test questions.
//
// Units:   shares in percent, ECE a plain number.
// Errors:  none: an empty side gives 0.
// Threads: pure.
// Source:  Geifman & El-Yaniv 2017 (coverage at a risk); Naeini et al. 2015 (ECE, here with equal-mass bins).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hengshi::train {

struct Scored {
  float confidence = 0;
  bool right = false;    // the intent named is the question's
  bool refused = false;  // not answered, whatever the confidence
  bool in_scope = true;
};

double accuracy(std::span<const Scored> rows);  // of in-scope rows; refused as out of scope counts as wrong
double oos_auroc(std::span<const Scored> rows);

struct AtThreshold {
  double precision = 0, precision_lo = 0, precision_hi = 0;
  double coverage = 0, coverage_lo = 0, coverage_hi = 0;
};
AtThreshold at_threshold(std::span<const Scored> rows, double threshold, uint64_t seed);  // bootstrap 95 % intervals

double oracle_coverage(std::span<const Scored> rows, double precision);  // threshold picked on these rows

struct Ece {
  double ece = 0, floor = 0;  // floor: what perfect calibration would show on as many rows
};
Ece calibration_error(std::span<const Scored> rows, double oos_share, uint64_t seed);

}  // namespace hengshi::train
