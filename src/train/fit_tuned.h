// fit_tuned.h — the whole light model on an encoder of its own, tuned end to end on the same questions.
//
// Errors:  the base model's folder, a loss that is not finite, memory or disk that run out: each says what to change.
// Threads: uses two; the result depends on data, base model, settings and seed only. An interrupted run goes on from
//          the checkpoints under `work`, to the same result.
// Source:  docs/decisions/0009-tuning.md.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "nn/encoder.h"
#include "train/fit_model.h"
#include "tune/tune.h"

namespace hengshi::train {

struct TuneSettings {
  std::string base;               // folder of the model to start from: a language's own, or one tuned before
  std::string work;               // folder for checkpoints and the tuned models; made when it is not there
  size_t passes = 0;              // over the questions; 0: as many as there should be for so many questions
  double rate = 2e-4;             // of learning, in the last layer
  size_t lora = 0;                // rank of the changes to each matrix; 0: every weight is free
  size_t checkpoint_every = 100;  // steps
};

struct TunedFit {
  Fitted fitted;
  std::unique_ptr<const nn::Encoder> encoder;  // as serving runs it, opened from `folder`
  std::string folder;
  std::vector<tune::Validation> history;  // of the set of all questions
};

Result<TunedFit> fit_tuned_model(const Examples& train, const Examples& dev, const Task& task,
                                 const FitOptions& options, const TuneSettings& settings);

// Removes all that tuning made in `work`, the tuned encoder too: an artifact carries it.
void clear_work(const std::string& work);

}  // namespace hengshi::train
