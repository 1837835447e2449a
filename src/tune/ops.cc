#include "tune/ops.h"

#include <cblas.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "tune/dice.h"

namespace hengshi::tune {

namespace {

constexpr size_t kLanes = 16;  // running sums of their own, so that the compiler may use vectors

void multiply(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, size_t m, size_t n, size_t k, const float* a, const float* b,
              float beta, float* c) {
  const auto i = [](size_t x) { return static_cast<blasint>(x); };
  cblas_sgemm(CblasRowMajor, ta, tb, i(m), i(n), i(k), 1.0F, a, i(ta == CblasNoTrans ? k : m), b,
              i(tb == CblasNoTrans ? n : k), beta, c, i(n));
}

float sum(const float* x, size_t n) {
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) lanes[k] += x[i + k];
  }
  float total = 0;
  for (; i < n; ++i) total += x[i];
  for (const float lane : lanes) total += lane;
  return total;
}

// Relative error 2e-7 on [-87, 87], without a branch or a call.
inline float exp_of(float x) {
  x = x < -87.0F ? -87.0F : x;
  x = x > 87.0F ? 87.0F : x;
  constexpr float kMagic = 12582912.0F;  // 1.5 · 2^23: adding it rounds to a whole number, kept in the low bits
  const float shifted = x * 1.44269504F + kMagic;
  const float n = shifted - kMagic;
  const float f = (x - n * 0.693359375F) + n * 2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * f + 1.3981999507e-3F;
  p = p * f + 8.3334519073e-3F;
  p = p * f + 4.1665795894e-2F;
  p = p * f + 1.6666665459e-1F;
  p = p * f + 5.0000001201e-1F;
  p = p * f * f + f + 1.0F;
  return std::bit_cast<float>(std::bit_cast<int32_t>(p) + (std::bit_cast<int32_t>(shifted) << 23));
}

}  // namespace

float dot(const float* a, const float* b, size_t n) {
  float lanes[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (size_t k = 0; k < kLanes; ++k) lanes[k] += a[i + k] * b[i + k];
  }
  float total = 0;
  for (; i < n; ++i) total += a[i] * b[i];
  for (const float lane : lanes) total += lane;
  return total;
}

void linear(const Linear& layer, const float* x, size_t rows, float* y) {
  for (size_t r = 0; r < rows; ++r) std::copy_n(layer.bias, layer.out, y + r * layer.out);
  multiply(CblasNoTrans, CblasTrans, rows, layer.out, layer.in, x, layer.weight, 1, y);
}

void linear_backward(const Linear& layer, const float* x, size_t rows, const float* d_y, float* d_weight, float* d_bias,
                     float* d_x) {
  multiply(CblasTrans, CblasNoTrans, layer.out, layer.in, rows, d_y, x, 1, d_weight);
  for (size_t r = 0; r < rows; ++r) add_to(d_y + r * layer.out, layer.out, d_bias);
  if (d_x != nullptr) multiply(CblasNoTrans, CblasNoTrans, rows, layer.in, layer.out, d_y, layer.weight, 0, d_x);
}

void layer_norm(const Norm& norm, const float* x, size_t rows, float* y, float* standard, float* inverse) {
  const size_t n = norm.width;
  const float share = 1.0F / static_cast<float>(n);
  for (size_t r = 0; r < rows; ++r, x += n, y += n, standard += n) {
    const float mean = sum(x, n) * share;
    for (size_t i = 0; i < n; ++i) standard[i] = x[i] - mean;
    inverse[r] = 1.0F / std::sqrt(dot(standard, standard, n) * share + norm.epsilon);
    for (size_t i = 0; i < n; ++i) {
      standard[i] *= inverse[r];
      y[i] = standard[i] * norm.gain[i] + norm.bias[i];
    }
  }
}

void layer_norm_backward(const Norm& norm, const float* standard, const float* inverse, size_t rows, const float* d_y,
                         float* d_gain, float* d_bias, float* d_x) {
  const size_t n = norm.width;
  const float share = 1.0F / static_cast<float>(n);
  for (size_t r = 0; r < rows; ++r, d_y += n, d_x += n, standard += n) {
    for (size_t i = 0; i < n; ++i) {
      d_gain[i] += d_y[i] * standard[i];
      d_bias[i] += d_y[i];
      d_x[i] = d_y[i] * norm.gain[i];
    }
    const float mean = sum(d_x, n) * share;
    const float along = dot(d_x, standard, n) * share;
    for (size_t i = 0; i < n; ++i) d_x[i] = (d_x[i] - mean - standard[i] * along) * inverse[r];
  }
}

// erf by Abramowitz and Stegun 7.1.26, within 1.5e-7; its exponential is also the density that the slope needs.
void gelu(const float* x, size_t n, float* y, float* slope) {
  for (size_t i = 0; i < n; ++i) {
    const float v = x[i];
    const float z = std::fabs(v) * 0.70710678F;
    const float e = exp_of(-z * z);
    const float t = 1.0F / (1.0F + 0.3275911F * z);
    const float tail =
        ((((1.061405429F * t - 1.453152027F) * t + 1.421413741F) * t - 0.284496736F) * t + 0.254829592F) * t * e * 0.5F;
    const float phi = v < 0 ? tail : 1.0F - tail;
    slope[i] = phi + v * e * 0.39894228F;
    y[i] = v * phi;
  }
}

void multiply_by(const float* by, size_t n, float* x) {
  for (size_t i = 0; i < n; ++i) x[i] *= by[i];
}

void add_to(const float* from, size_t n, float* to) {
  for (size_t i = 0; i < n; ++i) to[i] += from[i];
}

void dropout(uint64_t stream, float rate, size_t n, float* x) {
  if (rate <= 0) return;
  const auto bound = static_cast<uint32_t>(rate * 65536.0F);
  const float scale = 65536.0F / static_cast<float>(65536 - bound);
  for (size_t i = 0; i < n; i += 4) {
    const uint64_t bits = roll(stream, i);
    for (size_t k = 0; k < 4 && i + k < n; ++k) x[i + k] *= ((bits >> (16 * k)) & 0xFFFF) < bound ? 0.0F : scale;
  }
}

size_t Attention::weights() const {
  size_t total = 0;
  for (size_t s = 0; s + 1 < starts.size(); ++s) {
    const size_t keys = starts[s + 1] - starts[s];
    total += heads * keys * (first_only ? 1 : keys);
  }
  return total;
}

namespace {

// One sequence and head: `q` asks `k`, rows `stride` apart; out and its derivative have rows `width` apart.
struct Block {
  size_t queries = 0, keys = 0, size = 0, stride = 0, width = 0;
  float scale = 1;
};

void attend(const Block& b, const float* q, const float* k, const float* v, float* weights, float* out) {
  for (size_t i = 0; i < b.queries; ++i, weights += b.keys) {
    float top = -1e30F;
    for (size_t j = 0; j < b.keys; ++j) {
      weights[j] = dot(q + i * b.stride, k + j * b.stride, b.size) * b.scale;
      top = std::max(top, weights[j]);
    }
    float total = 0;
    for (size_t j = 0; j < b.keys; ++j) total += weights[j] = exp_of(weights[j] - top);
    float* const to = out + i * b.width;
    std::fill_n(to, b.size, 0.0F);
    for (size_t j = 0; j < b.keys; ++j) {
      weights[j] /= total;
      for (size_t d = 0; d < b.size; ++d) to[d] += weights[j] * v[j * b.stride + d];
    }
  }
}

// d_q, d_k and d_v start at zero and are added to.
void attend_backward(const Block& b, const float* q, const float* k, const float* v, const float* weights,
                     const float* d_out, float* d_q, float* d_k, float* d_v) {
  for (size_t i = 0; i < b.queries; ++i, weights += b.keys) {
    const float* const from = d_out + i * b.width;
    float along = 0;
    for (size_t j = 0; j < b.keys; ++j) along += weights[j] * dot(from, v + j * b.stride, b.size);
    for (size_t j = 0; j < b.keys; ++j) {
      const size_t at = j * b.stride;
      const float d_score = weights[j] * (dot(from, v + at, b.size) - along) * b.scale;
      for (size_t d = 0; d < b.size; ++d) {
        d_v[at + d] += weights[j] * from[d];
        d_q[i * b.stride + d] += d_score * k[at + d];
        d_k[at + d] += d_score * q[i * b.stride + d];
      }
    }
  }
}

// Calls work(block, first float of the queries, first float of out, first weight) for each sequence and head.
template <typename Work>
void each_block(const Attention& shape, const Work& work) {
  const size_t width = shape.width();
  const float scale = 1.0F / std::sqrt(static_cast<float>(shape.size));
  size_t weight = 0;
  for (size_t s = 0; s + 1 < shape.starts.size(); ++s) {
    const size_t keys = shape.starts[s + 1] - shape.starts[s];
    const Block block{shape.first_only ? 1 : keys, keys, shape.size, 3 * width, width, scale};
    const size_t out_row = shape.first_only ? s : shape.starts[s];
    for (size_t h = 0; h < shape.heads; ++h) {
      work(block, size_t{3} * shape.starts[s] * width + h * shape.size, out_row * width + h * shape.size, weight);
      weight += block.queries * keys;
    }
  }
}

}  // namespace

void attention(const Attention& shape, const float* qkv, float* weights, float* out) {
  const size_t width = shape.width();
  each_block(shape, [&](const Block& block, size_t q, size_t to, size_t weight) {
    attend(block, qkv + q, qkv + q + width, qkv + q + 2 * width, weights + weight, out + to);
  });
}

void attention_backward(const Attention& shape, const float* qkv, const float* weights, const float* d_out,
                        float* d_qkv) {
  const size_t width = shape.width();
  std::fill_n(d_qkv, size_t{3} * shape.starts.back() * width, 0.0F);
  each_block(shape, [&](const Block& block, size_t q, size_t from, size_t weight) {
    attend_backward(block, qkv + q, qkv + q + width, qkv + q + 2 * width, weights + weight, d_out + from, d_qkv + q,
                    d_qkv + q + width, d_qkv + q + 2 * width);
  });
}

void mean_pool(std::span<const uint32_t> starts, size_t width, const float* x, float* out) {
  for (size_t s = 0; s + 1 < starts.size(); ++s, out += width) {
    const float share = 1.0F / static_cast<float>(starts[s + 1] - starts[s]);
    std::fill_n(out, width, 0.0F);
    for (size_t row = starts[s]; row < starts[s + 1]; ++row) {
      for (size_t i = 0; i < width; ++i) out[i] += share * x[row * width + i];
    }
  }
}

void mean_pool_backward(std::span<const uint32_t> starts, size_t width, const float* d_out, float* d_x) {
  for (size_t s = 0; s + 1 < starts.size(); ++s, d_out += width) {
    const float share = 1.0F / static_cast<float>(starts[s + 1] - starts[s]);
    for (size_t row = starts[s]; row < starts[s + 1]; ++row) {
      for (size_t i = 0; i < width; ++i) d_x[row * width + i] = share * d_out[i];
    }
  }
}

void unit_rows(size_t rows, size_t width, float* x, float* length) {
  for (size_t r = 0; r < rows; ++r, x += width) {
    length[r] = std::max(std::sqrt(dot(x, x, width)), 1e-12F);
    for (size_t i = 0; i < width; ++i) x[i] /= length[r];
  }
}

void unit_rows_backward(size_t rows, size_t width, const float* unit, const float* length, float* d) {
  for (size_t r = 0; r < rows; ++r, unit += width, d += width) {
    const float along = dot(unit, d, width);
    for (size_t i = 0; i < width; ++i) d[i] = (d[i] - unit[i] * along) / length[r];
  }
}

}  // namespace hengshi::tune
