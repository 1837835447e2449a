// risk.h — the lowest confidence from which "at most this share wrong among answered" is certain enough.
//
// Shapes:  one Scored per labelled question that trained nothing; in-scope and out-of-scope rows are two samples when a
//          share is stated, else one.
// Units:   risk, delta, level and share in [0, 1].
// Errors:  none: with too few labels nothing is certified, and `needed` tells how many would do.
// Threads: pure.
// Source:  docs/decisions/0010-risk-control.md; Learn-then-Test (arXiv 2110.01052); Wiens 2003 (fallback); Berger & Boos 1994.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "train/metrics.h"

namespace hengshi::train {

struct RiskAim {
  double risk = 0.05;   // at most this share wrong among answered …
  double delta = 0.05;  // … but for this probability, over the draw of the labelled rows
  std::optional<double> oos_share =
      {};  // out-of-scope share of live questions; none: the rows are a fair sample of them
};

// One hypothesis "the risk at this threshold is too high", with its own share of delta.
struct RiskStep {
  double threshold = 1;
  double share = 0;
};

// From strict to lax, fixed before any label is seen. A few of them have a share; the others are tested with what those
// before them hand down.
std::vector<RiskStep> risk_steps(double risk);

// How many of the steps' thresholds are certified, told by the last one; none: nothing is. `rejects(step, level)` is a
// test of that level. A step that is rejected hands its level down; one that is not hands down nothing.
template <typename Rejects>
std::optional<size_t> last_certified(std::span<const RiskStep> steps, double delta, const Rejects& rejects) {
  std::optional<size_t> last;
  double level = 0;
  for (size_t i = 0; i < steps.size(); ++i) {
    level += steps[i].share * delta;
    if (level <= 0) continue;
    if (rejects(i, level)) {
      last = i;
    } else {
      level = 0;
    }
  }
  return last;
}

struct RiskCounts {                               // at one threshold
  size_t in_scope = 0, answered = 0, wrong = 0;   // in-scope rows
  size_t out_of_scope = 0, answered_outside = 0;  // an answered one is wrong
};

// A test of the hypothesis "more than aim.risk of the answered are wrong": true happens with probability at most
// `level` where that is so.
bool rejects_risk(const RiskCounts& counts, const RiskAim& aim, double level);

struct Certificate {
  bool certified = false;
  double threshold = 1;
  RiskCounts counts;  // at the threshold
  size_t labels = 0;
  size_t needed = 0;  // when refused: labels that would do if they fared as these did; 0: no number would
};

Certificate certify(std::span<const Scored> rows, const RiskAim& aim);

// The certificate in words, for an artifact's manifest. `rows`: what the labels were, "held-out rows".
std::string certified_how(const Certificate& one, const RiskAim& aim, std::string_view rows);

}  // namespace hengshi::train
