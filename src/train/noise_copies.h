// noise_copies.h — copies of training questions with errors in them, to train on beside the questions themselves.
//
// Shapes:  origins [questions]: the row each is a copy of.
// Units:   per_row = copies per row: 0.5 is every other row once, 2 every row twice.
// Threads: pure; the result depends on the arguments only.
// Source:  docs/decisions/0011-noise.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "train/embed.h"
#include "train/noise.h"

namespace hengshi::train {

// Copies per row: as asked, else three, or fewer where that would be very many.
double copies_per_row(std::optional<double> asked, size_t rows);

// A judge that is to know how far to trust an answer to a question with an error has to see such questions: one in so
// many of a dev file's rows, about as many as live ones.
inline constexpr size_t kJudgedWithError = 5;

struct CopyOptions {
  double per_row = 1;
  unsigned errors = 1;  // in each copy
  NoiseMix mix = NoiseMix::kAll;
  uint64_t seed = 1;
};

// Of the language; nothing where there is none.
std::optional<Noise> noise_of(text::Language language);

struct Copies {
  std::vector<Question> questions;
  std::vector<size_t> origins;
};

// Left out: a copy that came out unchanged, and one that is word for word a row of another label.
Copies noisy_copies(std::span<const Question> rows, const Noise& noise, const CopyOptions& options);

// The rows themselves, every n-th of them with one typing error in it.
std::vector<Question> with_errors(std::span<const Question> rows, size_t every, const Noise& noise, uint64_t seed);

// Embeds noisy copies of the rows, of all kinds of errors, and adds them behind.
void add_copies(Examples& rows, const nn::Encoder& encoder, const Noise& noise, double per_row, uint64_t seed,
                bool progress);

}  // namespace hengshi::train
