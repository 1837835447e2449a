// folds.h — splits labelled questions into parts that share no text.
//
// Shapes:  the fold of each row, in [0, folds).
// Threads: pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hengshi::train {

// Rows of one normal form share a fold; each label is spread evenly.
std::vector<size_t> make_folds(std::span<const std::string> normalised, std::span<const uint32_t> labels, size_t folds,
                               uint64_t seed);

}  // namespace hengshi::train
