// kernels_math.h — the loops that every CPU level shares, written once over a vector type V and a dot product Dot.
//
// V is a level's register: kWidth floats with load, store, fma … ; Dot is its int8 tile. Only kernels_<level>.cc
// include this, each with types in its own unnamed namespace, so that no copy compiled for one CPU is linked into
// another. For the same reason nothing of the standard library is instantiated here.
//
// Shapes:  as kernels.h says.
// Source:  docs/decisions/0003-encoder.md.
#pragma once

#include <cstring>

#include "nn/kernels.h"

namespace hengshi::nn {

template <class V>
inline typename V::Float exp_of(typename V::Float x) {  // relative error 3e-6 for x <= 0
  const auto t = V::mul(V::max(x, V::all(-87.0F)), V::all(1.44269504F));
  const auto n = V::round(t);
  const auto f = V::sub(t, n);
  auto p = V::all(0.0013333558F);
  p = V::fma(p, f, V::all(0.0096181291F));
  p = V::fma(p, f, V::all(0.0555041087F));
  p = V::fma(p, f, V::all(0.2402265069F));
  p = V::fma(p, f, V::all(0.6931471806F));
  p = V::fma(p, f, V::all(1.0F));
  return V::times_power_of_two(p, n);
}

// x·Φ(x), Φ as an odd polynomial on [-4.5, 4.5]: at most 6e-5 away from the erf form for |x| <= 10.
template <class V>
inline typename V::Float gelu_of(typename V::Float x) {
  const auto c = V::min(V::max(x, V::all(-4.5F)), V::all(4.5F));
  const auto t = V::mul(c, c);
  auto p = V::all(3.0363953313957545e-11F);
  p = V::fma(p, t, V::all(-3.3146411558675e-09F));
  p = V::fma(p, t, V::all(1.5909905762686612e-07F));
  p = V::fma(p, t, V::all(-4.451717932412417e-06F));
  p = V::fma(p, t, V::all(8.142504833786167e-05F));
  p = V::fma(p, t, V::all(-0.0010375905906416477F));
  p = V::fma(p, t, V::all(0.009585200601627F));
  p = V::fma(p, t, V::all(-0.06598465204278527F));
  p = V::fma(p, t, V::all(0.39871260438557954F));
  return V::mul(x, V::fma(c, p, V::all(0.5F)));
}

template <class V>
void layer_norm(float* x, size_t rows, size_t n, const float* gain, const float* bias, float epsilon) {
  const float share = 1.0F / static_cast<float>(n);
  for (size_t r = 0; r < rows; ++r, x += n) {
    auto sum = V::all(0);
    for (size_t i = 0; i < n; i += V::kWidth) sum = V::add(sum, V::load(x + i));
    const auto mean = V::all(V::sum(sum) * share);
    auto square = V::all(0);
    for (size_t i = 0; i < n; i += V::kWidth) {
      const auto d = V::sub(V::load(x + i), mean);
      square = V::fma(d, d, square);
    }
    const auto inverse = V::all(1.0F / __builtin_sqrtf(V::sum(square) * share + epsilon));
    for (size_t i = 0; i < n; i += V::kWidth) {
      const auto z = V::mul(V::sub(V::load(x + i), mean), inverse);
      V::store(x + i, V::fma(z, V::load(gain + i), V::load(bias + i)));
    }
  }
}

template <class V>
void embed(float* out, const int8_t* word, float word_scale, const float* position, size_t n) {
  const auto scale = V::all(word_scale);
  for (size_t i = 0; i < n; i += V::kWidth) {
    V::store(out + i, V::fma(V::load_int8(word + i), scale, V::load(position + i)));
  }
}

struct Grid {
  float scale;
  float zero;
};

// With outliers the grid keeps half a digit free at both ends, so that low digits fit whatever the zero point.
template <class V>
Grid grid_of(const float* x, size_t n, const float* outlier_values, size_t outliers) {
  auto low = V::all(0);
  auto high = V::all(0);
  for (size_t i = 0; i < n; i += V::kWidth) {
    const auto v = V::load(x + i);
    low = V::min(low, v);
    high = V::max(high, v);
  }
  const float lowest = V::least(low);
  const float highest = V::greatest(high);
  const float margin = outliers == 0 ? 0.0F : 8.0F;
  float scale = (highest - lowest) / (255.0F - 2.0F * margin);
  for (size_t i = 0; i < outliers; ++i) {
    const float reach = __builtin_fabsf(outlier_values[i]) / (127.0F * 16.0F);
    if (reach > scale) scale = reach;
  }
  if (!(scale > 1e-30F)) scale = 1e-30F;  // an all-zero row
  return {scale, __builtin_rintf(-lowest / scale) - 128.0F + margin};
}

template <class V>
int32_t quantise_row(const float* x, size_t n, const Grid& grid, int8_t* out) {
  const auto inverse = V::all(1.0F / grid.scale);
  const auto zero = V::all(grid.zero);
  auto sum = V::zero_int();
  for (size_t i = 0; i < n; i += V::kWidth) {
    const auto q = V::saturate_int8(V::to_int(V::fma(V::load(x + i), inverse, zero)));
    sum = V::add_int(sum, q);
    V::store_int8(out + i, q);
  }
  return V::sum_int(sum);
}

template <class V>
void quantise(float* x, size_t rows, size_t n, std::span<const uint16_t> outliers, const QuantisedRows& out) {
  const size_t m = outliers.size();
  for (size_t r = 0; r < rows; ++r, x += n) {
    int8_t* const digits = out.values + r * out.stride;
    int8_t* const values = digits + m;
    float kept[kOutliers];
    for (size_t i = 0; i < m; ++i) {  // Out of the way, so that they do not stretch the grid of the others.
      kept[i] = x[outliers[i]];
      x[outliers[i]] = 0;
    }
    const Grid grid = grid_of<V>(x, n, kept, m);
    int32_t sum = quantise_row<V>(x, n, grid, values);
    for (size_t i = 0; i < m; ++i) {
      x[outliers[i]] = kept[i];
      const int whole = static_cast<int>(__builtin_rintf(kept[i] / grid.scale));
      const int high = (whole + 8) >> kDigitShift;
      const int low = whole - (high << kDigitShift);
      digits[i] = static_cast<int8_t>(high);
      values[outliers[i]] = static_cast<int8_t>(values[outliers[i]] + low);
      sum += whole;
    }
    out.scale[r] = grid.scale;
    out.zero[r] = grid.zero;
    out.sum[r] = sum;
  }
}

template <class V>
void finish_tile(const int32_t* tile, size_t columns, const PackedLinear& layer, const QuantisedRows& x, size_t row,
                 size_t rows, size_t column, const LinearCall& call) {
  for (size_t r = row; r < row + rows; ++r, tile += columns) {
    const auto scale = V::all(x.scale[r]);
    const auto zero = V::all(-x.scale[r] * x.zero[r]);
    float* const out = call.out + r * call.out_stride + column;
    for (size_t c = 0; c < columns; c += V::kWidth) {
      const auto offset = V::fma(zero, V::load(layer.scaled_sum + column + c), V::load(layer.bias + column + c));
      const auto weight = V::mul(scale, V::load(layer.scale + column + c));
      auto y = V::fma(V::to_float(V::load_int(tile + c)), weight, offset);
      if (call.epilogue == Epilogue::kGelu) y = gelu_of<V>(y);
      if (call.epilogue == Epilogue::kResidual) {
        y = V::add(y, V::load(call.residual + r * call.out_stride + column + c));
      }
      V::store(out + c, y);
    }
  }
}

// Panels outside, rows inside: a panel is read from memory once and is in the nearest cache for the rows that follow.
template <class V, class Dot>
void linear(const PackedLinear& layer, const QuantisedRows& x, const LinearCall& call) {
  const size_t blocks = (call.rows + Dot::kRows - 1) / Dot::kRows;
  const size_t panel_bytes = layer.packed_in() * kPanel;
  const size_t columns = Dot::columns((call.rows + blocks - 1) / blocks);
  alignas(64) int32_t tile[Dot::kRows * kColumnBlock];
  for (size_t column = call.begin; column < call.begin + call.count; column += columns) {
    const uint8_t* const weights = layer.weights + column / kPanel * panel_bytes;
    for (size_t b = 0; b < blocks; ++b) {
      const size_t row = call.rows * b / blocks;
      const size_t rows = call.rows * (b + 1) / blocks - row;
      Dot::tile(layer, weights, x, row, rows, columns, tile);
      finish_tile<V>(tile, columns, layer, x, row, rows, column, call);
    }
  }
}

// Four queries at a time: four independent sums hide the latency of one.
template <class V, size_t Rows>
struct Head {
  const AttentionCall& call;
  const float* keys;  // [head_size][padded tokens]
  float* scores;      // [Rows][padded tokens]
  const float* values;

  void score(const float* q, size_t padded) const {
    for (size_t j = 0; j < padded; j += V::kWidth) {
      typename V::Float sum[Rows];
      for (auto& s : sum) s = V::all(0);
      for (size_t d = 0; d < call.head_size; ++d) {
        const auto key = V::load(keys + d * padded + j);
        for (size_t r = 0; r < Rows; ++r) sum[r] = V::fma(V::all(q[r * call.stride + d]), key, sum[r]);
      }
      for (size_t r = 0; r < Rows; ++r) V::store(scores + r * padded + j, sum[r]);
    }
  }

  float softmax(float* s, size_t padded) const {  // leaves exponentials, answers 1 / their sum
    for (size_t j = call.tokens; j < padded; ++j) s[j] = -1e30F;
    auto top = V::load(s);
    for (size_t j = V::kWidth; j < padded; j += V::kWidth) top = V::max(top, V::load(s + j));
    const auto highest = V::all(V::greatest(top));
    auto sum = V::all(0);
    for (size_t j = 0; j < padded; j += V::kWidth) {
      const auto e = exp_of<V>(V::sub(V::load(s + j), highest));
      sum = V::add(sum, e);
      V::store(s + j, e);
    }
    // Padding scores weigh exp(-87) each: nothing beside the highest, which weighs 1.
    return 1.0F / V::sum(sum);
  }

  void mix(const float* inverse, float* out, size_t padded) const {
    const size_t width = call.heads * call.head_size;
    for (size_t d = 0; d < call.head_size; d += V::kWidth) {
      typename V::Float sum[Rows];
      for (auto& s : sum) s = V::all(0);
      for (size_t j = 0; j < call.tokens; ++j) {
        const auto value = V::load(values + j * call.stride + d);
        for (size_t r = 0; r < Rows; ++r) sum[r] = V::fma(V::all(scores[r * padded + j]), value, sum[r]);
      }
      for (size_t r = 0; r < Rows; ++r) V::store(out + r * width + d, V::mul(sum[r], V::all(inverse[r])));
    }
  }

  void answer(const float* q, float* out, size_t padded) const {
    float inverse[Rows];
    score(q, padded);
    for (size_t r = 0; r < Rows; ++r) inverse[r] = softmax(scores + r * padded, padded);
    mix(inverse, out, padded);
  }
};

template <class V>
void attention(const AttentionCall& call) {
  const size_t padded = padded_tokens(call.tokens);
  const size_t width = call.heads * call.head_size;
  float* const keys = call.scratch;
  float* const scores = keys + padded * call.head_size;
  for (size_t h = 0; h < call.heads; ++h) {
    const size_t at = h * call.head_size;
    V::transpose(call.k + at, call.stride, call.tokens, call.head_size, keys, padded);
    size_t i = 0;
    const Head<V, 4> four{call, keys, scores, call.v + at};
    for (; i + 4 <= call.query_rows; i += 4)
      four.answer(call.q + i * call.stride + at, call.out + i * width + at, padded);
    const Head<V, 1> one{call, keys, scores, call.v + at};
    for (; i < call.query_rows; ++i) one.answer(call.q + i * call.stride + at, call.out + i * width + at, padded);
  }
}

// out[d][j] = in[j][d]; columns past `tokens` are zero.
inline void transpose_plain(const float* in, size_t stride, size_t tokens, size_t width, float* out, size_t padded) {
  for (size_t d = 0; d < width; ++d) {
    for (size_t j = 0; j < tokens; ++j) out[d * padded + j] = in[j * stride + d];
    for (size_t j = tokens; j < padded; ++j) out[d * padded + j] = 0;
  }
}

template <class V, class Dot>
constexpr Kernels make_kernels() {
  return {&quantise<V>, &linear<V, Dot>, &layer_norm<V>, &attention<V>, &embed<V>};
}

}  // namespace hengshi::nn
