// calibrate.h — from held-out rows: how the heads mix, how sure an answer is, and from what confidence to answer.
//
// Shapes:  one HeldOut per row, scored by heads that never saw the row.
// Units:   weights sum to the number of rows; precision and confidence in [0, 1].
// Errors:  none: with too little to go by the threshold is 1 and says so.
// Threads: pure.
// Source:  docs/decisions/0006-light.md, 0010-risk-control.md; Platt 1999; Morris 1983 (empirical Bayes).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "light/artifact.h"
#include "light/judge.h"

namespace hengshi::train {

struct HeldOut {
  const light::Heads* heads = nullptr;
  light::Scores scores;
  std::span<const float> embedding;
  uint32_t label = 0;  // heads->intents: out of scope
  double weight = 1;
  bool too_long = false;  // or of another shape that is never answered
};

// The mixture of the two heads' log-probabilities under which the labels are likeliest.
light::Fusion fit_fusion(std::span<const HeldOut> rows);

struct Judged {
  light::Signals signals{};
  double weight = 1;
  bool right = false;    // the best intent is the label
  bool refused = false;  // never answered, whatever the confidence
  bool in_scope = true;
  uint32_t intent = 0;  // the best
};

std::vector<Judged> judge(std::span<const HeldOut> rows, const light::Fusion& fusion);

struct FittedConfidence {
  light::Confidence confidence;
  std::vector<float> held_out, held_out_scope;  // each row's confidence and scope by a fit that did not see it
};

// Whether a question is in scope and, if so, whether its intent is right: of each one map for all intents, and beside it
// what is particular to each, shrunk the more the fewer rows it has; dropped where rows that had no part in it are not
// surely the likelier for it.
FittedConfidence fit_confidence(std::span<const Judged> rows, size_t intents, uint64_t seed);

// The lowest confidence from which at most 1 - aim of the answered are wrong with probability 95 % (risk.h); beside it the
// floor, from which it is so on these rows, without a margin.
light::Threshold choose_threshold(std::span<const Judged> rows, std::span<const float> confidence, double aim);

}  // namespace hengshi::train
