#include "cache/vector_code.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace hengshi::cache {

namespace {

constexpr size_t kCodeBits = kCodeWords * 64;

// ±1 from a fixed seed: codes on disk are never stored, but two builds must agree within one process' life.
float random_sign(uint64_t i) {
  uint64_t z = (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (z ^ (z >> 31)) & 1 ? 1.0f : -1.0f;
}

const std::vector<float>& signs(size_t n) {
  thread_local std::vector<float> kept;
  for (size_t i = kept.size(); i < n; ++i) kept.push_back(random_sign(i));
  return kept;
}

void hadamard(std::span<float> x) {
  for (size_t h = 1; h < x.size(); h *= 2) {
    for (size_t i = 0; i < x.size(); i += 2 * h) {
      for (size_t j = i; j < i + h; ++j) {
        const float a = x[j], b = x[j + h];
        x[j] = a + b;
        x[j + h] = a - b;
      }
    }
  }
}

}  // namespace

std::optional<Quantised> quantise(std::span<const float> embedding) {
  float largest = 0;
  bool finite = true;
  for (const float x : embedding) {
    finite &= std::isfinite(x);
    largest = std::max(largest, std::abs(x));
  }
  if (!finite || largest < 1e-12f) return std::nullopt;
  Quantised q{std::vector<int8_t>((embedding.size() + 63) / 64 * 64), largest / 127};
  for (size_t i = 0; i < embedding.size(); ++i) {
    q.values[i] = static_cast<int8_t>(std::lrintf(embedding[i] * (127 / largest)));
  }
  return q;
}

Code sign_code(std::span<const int8_t> values) {
  const size_t padded = std::max(kCodeBits, std::bit_ceil(values.size()));
  thread_local std::vector<float> x;
  x.assign(padded, 0);
  const std::vector<float>& sign = signs(2 * padded);
  for (size_t i = 0; i < values.size(); ++i) x[i] = sign[i] * static_cast<float>(values[i]);
  hadamard(x);
  for (size_t i = 0; i < padded; ++i) x[i] *= sign[padded + i];
  hadamard(x);
  Code code = {};
  for (size_t i = 0; i < kCodeBits; ++i) code[i / 64] |= static_cast<uint64_t>(x[i] > 0) << (i % 64);
  return code;
}

}  // namespace hengshi::cache
