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

// Four at a time, loaded before they are stored, so that the compiler may use vectors without checks.
void butterflies(float* low, float* high) {
  float a[4], b[4];
  std::copy_n(low, 4, a);
  std::copy_n(high, 4, b);
  for (size_t k = 0; k < 4; ++k) low[k] = a[k] + b[k];
  for (size_t k = 0; k < 4; ++k) high[k] = a[k] - b[k];
}

// Precondition: the size is a power of two, at least 8.
void hadamard(std::span<float> x) {
  for (size_t i = 0; i < x.size(); i += 4) {
    const float a = x[i] + x[i + 1], b = x[i] - x[i + 1], c = x[i + 2] + x[i + 3], d = x[i + 2] - x[i + 3];
    x[i] = a + c, x[i + 1] = b + d, x[i + 2] = a - c, x[i + 3] = b - d;
  }
  for (size_t h = 4; h < x.size(); h *= 2) {
    for (size_t i = 0; i < x.size(); i += 2 * h) {
      for (size_t j = i; j < i + h; j += 4) butterflies(&x[j], &x[j + h]);
    }
  }
}

// Of finite floats; as integers, because a float maximum keeps the compiler from using vectors.
float largest_magnitude(std::span<const float> v) {
  int32_t largest = 0;
  for (const float x : v) largest = std::max(largest, std::bit_cast<int32_t>(x) & 0x7FFFFFFF);
  return std::bit_cast<float>(largest);  // infinite or not a number if one of them is
}

}  // namespace

std::optional<Quantised> quantise(std::span<const float> embedding) {
  const float largest = largest_magnitude(embedding);
  if (!std::isfinite(largest) || largest < 1e-12f) return std::nullopt;
  Quantised q{std::vector<int8_t>((embedding.size() + 63) / 64 * 64), largest / 127};
  const float inverse = 127 / largest;
  for (size_t i = 0; i < embedding.size(); ++i) {
    const float x = embedding[i] * inverse;
    q.values[i] = static_cast<int8_t>(static_cast<int32_t>(x + std::copysign(0.5f, x)));  // lrint() is a call
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
