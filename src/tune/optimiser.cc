#include "tune/optimiser.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "tune/ops.h"
#include "tune/workers.h"

namespace hengshi::tune {

namespace {

constexpr size_t kChunk = 1 << 14;  // small enough that a float sum of squares stays exact enough
constexpr float kFirst = 0.9F, kSecond = 0.999F, kEpsilon = 1e-8F;

}  // namespace

float rate_share(size_t step, size_t steps, double warm_up) {
  const double at = static_cast<double>(step), all = static_cast<double>(std::max<size_t>(steps, 1));
  const double rising = warm_up > 0 ? std::min(1.0, at / (warm_up * all)) : 1.0;
  return static_cast<float>(rising * 0.5 * (1 + std::cos(std::numbers::pi * std::min(1.0, at / all))));
}

AdamW::AdamW(const Layout& layout, const AdamOptions& options)
    : options_(options), first_(layout.size), second_(layout.size) {
  const size_t top = layout.layers.size();
  for (const Slot& slot : layout.slots) {
    const bool own = slot.depth > top;
    const float rate = own ? options.head_factor : std::pow(options.layer_decay, static_cast<float>(top - slot.depth));
    runs_.push_back(
        {slot.offset, slot.offset + slot.size, rate * options.rate, slot.decayed ? options.weight_decay : 0.0F});
  }
}

double AdamW::step(std::span<float> parameters, std::span<float> gradient, std::span<const float> second, size_t step,
                   float share) {
  const size_t half = parameters.size() / 2;
  const std::array<size_t, kWorkers + 1> borders = {0, half, parameters.size()};
  std::array<double, kWorkers> squares = {};
  both([&](size_t w) {
    for (size_t at = borders[w]; at < borders[w + 1]; at += kChunk) {
      const size_t n = std::min(kChunk, borders[w + 1] - at);
      if (!second.empty()) add_to(&second[at], n, &gradient[at]);
      squares[w] += static_cast<double>(dot(&gradient[at], &gradient[at], n));
    }
  });
  const double length = std::sqrt(squares[0] + squares[1]);
  if (!std::isfinite(length)) return length;
  const float cut = static_cast<float>(std::min(1.0, static_cast<double>(options_.longest) / std::max(length, 1e-12)));
  const auto t = static_cast<float>(step);
  const float first_share = 1 / (1 - std::pow(kFirst, t)), second_share = 1 / (1 - std::pow(kSecond, t));
  both([&](size_t w) {
    for (const Run& run : runs_) {
      const size_t end = std::min(run.end, borders[w + 1]);
      for (size_t i = std::max(run.begin, borders[w]); i < end; ++i) {
        const float g = gradient[i] * cut;
        first_[i] += (1 - kFirst) * (g - first_[i]);
        second_[i] += (1 - kSecond) * (g * g - second_[i]);
        const float by = first_[i] * first_share / (std::sqrt(second_[i] * second_share) + kEpsilon);
        parameters[i] -= share * run.rate * (by + run.decay * parameters[i]);
      }
    }
  });
  return length;
}

}  // namespace hengshi::tune
