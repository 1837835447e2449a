// fit_model.h — the whole light model from labelled questions: heads, fusion, confidence, thresholds.
//
// Units:   oos_share = share that out-of-scope questions are taken to have; aims = precisions in [0, 1].
// Errors:  none: the callers hand over at least two intents.
// Threads: uses all cores; the result depends on data and seed only.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "light/artifact.h"
#include "train/calibrate.h"
#include "train/fit_heads.h"
#include "train/noise.h"

namespace hengshi::train {

struct FitOptions {
  uint64_t seed = 1;
  double oos_share = 0.15;
  std::vector<double> aims = {0.95};
  bool progress = false;
  const Noise* noise = nullptr;  // tuning words questions anew with it from pass to pass; null: it does not
};

struct Fitted {
  light::Weights weights;
  std::vector<light::Threshold> thresholds;  // one per aim
  std::vector<Judged> held_out;              // what fusion, confidence and thresholds were fitted on
  std::vector<float> held_out_confidence, held_out_scope;
};

// What the judge is fitted on: dev alone where it is enough, else folds of train as well. Each fold also leaves some
// intents out whole: their held-out questions stand for what is near the pack and yet not in it.
struct Split {
  size_t folds = 0;              // 0: dev is enough
  std::vector<size_t> fold;      // of each training row
  std::vector<size_t> left_out;  // of each label: the fold that does not know it; `folds` for none

  // Whether the set trains on a row. Set f < folds lacks fold f, the last set lacks nothing.
  bool trains(size_t set, size_t row, uint32_t label) const {
    return set == folds || (fold[row] != set && left_out[label] != set);
  }
};
Split split_for_judge(const Examples& train, const Examples& dev, const Task& task, size_t folds,
                      const FitOptions& options);

// All rows as the encoder of one set sees them.
struct View {
  const Examples* train = nullptr;
  const Examples* dev = nullptr;
  const light::EncoderHead* head = nullptr;  // trained together with the encoder; null: it is fitted here
};
Fitted fit_model(const Split& split, std::span<const View> views, const Task& task, const FitOptions& options);

// `dev` never trains a head. Where it is too small to fit the judge on, folds of `train` are added: each fold is
// scored by heads fitted to the others.
Fitted fit_model(const Examples& train, const Examples& dev, const Task& task, const FitOptions& options);

}  // namespace hengshi::train
