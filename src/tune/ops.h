// ops.h — the pieces of a BERT encoder, each with its derivative.
//
// Shapes:  row-major f32; x[rows, in], weight[out, in], bias[out]. A batch packs its sequences end to end without
//          padding: sequence s is rows [starts[s], starts[s + 1]).
// Errors:  none: shapes are the caller's.
// Threads: free functions over the caller's memory; each adds in one order, so the result depends on the data only.
// Source:  docs/decisions/0009-tuning.md; each backward is checked against finite differences in ops_test.cc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace hengshi::tune {

struct Linear {
  const float* weight = nullptr;
  const float* bias = nullptr;
  size_t in = 0, out = 0;
};

void linear(const Linear& layer, const float* x, size_t rows, float* y);
// Adds to d_weight and d_bias; writes d_x, when there is one.
void linear_backward(const Linear& layer, const float* x, size_t rows, const float* d_y, float* d_weight, float* d_bias,
                     float* d_x);

struct Norm {
  const float* gain = nullptr;
  const float* bias = nullptr;
  size_t width = 0;
  float epsilon = 1e-12F;
};

// `standard` keeps (x − mean) / deviation and `inverse` 1 / deviation per row: what the backward needs. y may be x.
void layer_norm(const Norm& norm, const float* x, size_t rows, float* y, float* standard, float* inverse);
// Adds to d_gain and d_bias; d_x may be d_y.
void layer_norm_backward(const Norm& norm, const float* standard, const float* inverse, size_t rows, const float* d_y,
                         float* d_gain, float* d_bias, float* d_x);

// y = x·Φ(x) and its derivative at x; y may be x.
void gelu(const float* x, size_t n, float* y, float* slope);
void multiply_by(const float* by, size_t n, float* x);
void add_to(const float* from, size_t n, float* to);

// Element i lives, times 1 / (1 − rate), or is zero: the same for the same stream and i. Its own derivative.
void dropout(uint64_t stream, float rate, size_t n, float* x);

struct Attention {
  std::span<const uint32_t> starts;
  size_t heads = 0, size = 0;  // size: of one head
  bool first_only = false;     // only the first row of each sequence asks; out then has one row a sequence

  size_t width() const { return heads * size; }
  size_t weights() const;  // floats of the softmaxes: per sequence and head [queries, keys]
};

// qkv[rows, 3 · width]: queries, keys, values. out = softmax(q·kᵀ / √size)·v, per head.
void attention(const Attention& shape, const float* qkv, float* weights, float* out);
// Writes d_qkv whole.
void attention_backward(const Attention& shape, const float* qkv, const float* weights, const float* d_out,
                        float* d_qkv);

// Mean of each sequence's rows.
void mean_pool(std::span<const uint32_t> starts, size_t width, const float* x, float* out);
void mean_pool_backward(std::span<const uint32_t> starts, size_t width, const float* d_out, float* d_x);

// Rows to length 1; `length` keeps what they had.
void unit_rows(size_t rows, size_t width, float* x, float* length);
void unit_rows_backward(size_t rows, size_t width, const float* unit, const float* length, float* d);

float dot(const float* a, const float* b, size_t n);

}  // namespace hengshi::tune
