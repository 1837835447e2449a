// fit_model.h — the whole light model from labelled questions: heads, fusion, confidence, thresholds.
//
// Units:   oos_share = share that out-of-scope questions are taken to have; aims = precisions in [0, 1].
// Errors:  none: the callers hand over at least two intents.
// Threads: uses all cores; the result depends on data and seed only.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "light/artifact.h"
#include "train/calibrate.h"
#include "train/fit_heads.h"

namespace hengshi::train {

struct FitOptions {
  uint64_t seed = 1;
  double oos_share = 0.15;
  std::vector<double> aims = {0.95};
  bool progress = false;
};

struct Fitted {
  light::Weights weights;
  std::vector<light::Threshold> thresholds;  // one per aim
  std::vector<Judged> held_out;              // what fusion, confidence and thresholds were fitted on
  std::vector<uint8_t> held_out_in_scope;
  std::vector<float> held_out_confidence;
};

// `dev` never trains a head. Where it is too small to fit the judge on, folds of `train` are added: each fold is
// scored by heads fitted to the others.
Fitted fit_model(const Examples& train, const Examples& dev, const Task& task, const FitOptions& options);

}  // namespace hengshi::train
