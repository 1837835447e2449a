// noise_copies.h — copies of training questions with errors in them, to train on beside the questions themselves.
//
// Shapes:  origins [questions]: the row each is a copy of, so that no split parts the two.
// Units:   per_row = copies per row: 0.5 is every other row once, 2 every row twice.
// Threads: pure; the result depends on the arguments only.
// Source:  docs/decisions/0011-noise.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "train/embed.h"
#include "train/noise.h"

namespace hengshi::train {

struct CopyOptions {
  double per_row = 1;
  unsigned errors = 1;  // in each copy
  NoiseMix mix = NoiseMix::kAll;
  uint64_t seed = 1;
};

struct Copies {
  std::vector<Question> questions;
  std::vector<size_t> origins;
};

// Left out: a copy that came out unchanged, and one that is word for word a row of another label.
Copies noisy_copies(std::span<const Question> rows, const Noise& noise, const CopyOptions& options);

// The rows, and behind them the built-in questions that add_foreign() kept in `train`, as they are written.
std::vector<Question> with_foreign(std::span<const Question> rows, const Examples& train, text::Language language,
                                   uint32_t out_of_scope);

Examples joined(const Examples& rows, const Examples& more);

}  // namespace hengshi::train
