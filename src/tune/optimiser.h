// optimiser.h — AdamW over the flat buffer: decoupled decay, gradients cut to a length, a rate per depth.
//
// Shapes:  parameters, gradients, both moments f32[layout.size].
// Errors:  none; a gradient that is not finite is what length() tells.
// Threads: uses two; elements are independent and sums are taken in one order, so the result depends on the data only.
// Source:  AdamW (Loshchilov & Hutter 2019, algorithm 2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tune/layout.h"

namespace hengshi::tune {

struct AdamOptions {
  float rate = 1e-4F;      // of the last layer
  float layer_decay = 1;   // each layer below learns so much slower
  float head_factor = 10;  // the task's own parameters learn so much faster
  float weight_decay = 0.01F;
  float longest = 1;  // gradients are cut to this length
};

// Linear up over the warm-up, then by a cosine down to zero; step from 1.
float rate_share(size_t step, size_t steps, double warm_up);

class AdamW {
 public:
  AdamW(const Layout& layout, const AdamOptions& options);

  // Adds the second gradient, when there is one, to the first, then steps by `share` of the rates. Answers the gradient's length before it
  // was cut; when that is not finite nothing is changed.
  double step(std::span<float> parameters, std::span<float> gradient, std::span<const float> second, size_t step,
              float share);

  std::span<float> first() { return first_; }
  std::span<float> second() { return second_; }

 private:
  struct Run {  // neighbours in the buffer that are treated alike
    size_t begin = 0, end = 0;
    float rate = 0, decay = 0;
  };
  AdamOptions options_;
  std::vector<Run> runs_;
  std::vector<float> first_, second_;
};

}  // namespace hengshi::tune
