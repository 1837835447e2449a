#include "light/heads.h"

#include <algorithm>
#include <cmath>

namespace hengshi::light {

namespace {

void add_scaled(std::span<float> out, const float* row, float by) {
  for (size_t i = 0; i < out.size(); ++i) out[i] += by * row[i];
}

void add_scaled(std::span<float> out, const int8_t* row, float by) {
  for (size_t i = 0; i < out.size(); ++i) out[i] += by * static_cast<float>(row[i]);
}

template <typename T>
float dot(std::span<const float> a, const T* b) {
  float sums[8] = {};  // Eight running sums let the compiler use vectors without reordering a float sum.
  size_t i = 0;
  for (; i + 8 <= a.size(); i += 8) {
    for (size_t k = 0; k < 8; ++k) sums[k] += a[i + k] * static_cast<float>(b[i + k]);
  }
  float sum = 0;
  for (; i < a.size(); ++i) sum += a[i] * static_cast<float>(b[i]);
  for (const float s : sums) sum += s;
  return sum;
}

}  // namespace

float quantise(std::span<const float> from, std::span<int8_t> to) {
  float largest = 0;
  for (const float x : from) largest = std::max(largest, std::fabs(x));
  const float scale = largest / 127.0F;
  for (size_t i = 0; i < from.size(); ++i) {
    to[i] = scale > 0 ? static_cast<int8_t>(std::lrint(from[i] / scale)) : int8_t{0};
  }
  return scale;
}

void NgramHead::logits(const Sparse& question, std::span<float> out) const {
  std::copy(bias.begin(), bias.end(), out.begin());
  for (size_t i = 0; i < question.rows.size(); ++i) {
    const size_t row = question.rows[i];
    add_scaled(out, &weights[row * out.size()], question.values[i] * scales[row]);
  }
}

void EncoderHead::logits(std::span<const float> embedding, std::span<float> out) const {
  thread_local std::vector<float> inner;
  inner.assign(b1.begin(), b1.end());
  for (size_t i = 0; i < dim; ++i) add_scaled(inner, &w1[i * hidden], embedding[i]);
  std::copy(b2.begin(), b2.end(), out.begin());
  for (size_t i = 0; i < hidden; ++i) {
    if (inner[i] > 0) add_scaled(out, &w2[i * out.size()], inner[i]);
  }
}

float Examples::to_centroid(size_t intent, std::span<const float> embedding) const {
  return dot(embedding, &centroids[intent * dim]);
}

float Examples::to_nearest(size_t intent, std::span<const float> embedding) const {
  float best = 0;
  for (size_t row = starts[intent]; row < starts[intent + 1]; ++row) {
    best = std::max(best, dot(embedding, &vectors[row * dim]) * scales[row]);
  }
  return best;
}

}  // namespace hengshi::light
