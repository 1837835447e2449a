// low_rank.h — every matrix of the encoder as the base model's plus a product of two thin ones (LoRA).
//
// The network knows nothing of it: before a step the thin matrices are multiplied out, after it the gradient of the
// whole matrix is carried over to them.
//
// Shapes:  whole f32[whole layout.size]; thin f32[layout().size]: for each matrix down f32[rank, in] and up
//          f32[out, rank]; vectors and the task's own tensors as they are.
// Errors:  none.
// Threads: one at a time.
// Source:  LoRA (Hu 2022, section 4.1).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tune/layout.h"

namespace hengshi::tune {

class LowRank {
 public:
  // `start`: the base model's parameters, and the task's start behind them.
  LowRank(const Layout& whole, size_t rank, std::vector<float> start);

  const Layout& layout() const { return thin_; }
  std::vector<float> start(uint64_t seed) const;
  void expand(std::span<const float> thin, std::span<float> whole) const;
  void carry_over(std::span<const float> thin, std::span<const float> whole_gradient,
                  std::span<float> thin_gradient) const;

 private:
  struct Matrix {
    size_t whole = 0, down = 0, up = 0, out = 0, in = 0;
  };
  struct Same {
    size_t whole = 0, thin = 0, size = 0;
  };

  size_t rank_;
  std::vector<float> start_;
  Layout thin_;
  std::vector<Matrix> matrices_;
  std::vector<Same> same_;
};

}  // namespace hengshi::tune
