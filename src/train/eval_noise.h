// eval_noise.h — `hengshi eval noise`: what errors in the questions cost a model trained without and one trained with noise.
//
// Units:   shares in percent, losses in points, times end in their unit.
// Errors:  as eval_intent.h; kInvalidRequest for a language without noise of its own, and for too few held-out rows.
// Threads: uses all cores; figures but the times depend on files and seeds only.
// Source:  docs/decisions/0011-noise.md.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "nn/encoder.h"
#include "train/eval_intent.h"

namespace hengshi::train {

struct EvalNoiseOptions {
  EvalIntentOptions data;   // files, shares, seeds, noisy copies of the model trained with noise, what to print
  uint64_t noise_seed = 1;  // of the test's errors; training's follow the training seed
};

// The report to print, without the last line end: a table, then with `json` one line of JSON.
Result<std::string> eval_noise(const EvalNoiseOptions& options);
Result<std::string> eval_noise(const EvalNoiseOptions& options, const nn::Encoder& encoder);

}  // namespace hengshi::train
