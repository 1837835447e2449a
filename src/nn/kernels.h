// kernels.h — the inner loops of the encoder, one table per CPU level.
//
// Shapes:  activations int8[rows, stride]: first the outliers' high digits, then the row itself; see QuantisedRows.
//          weights uint8[out / 16][in / 4][16 columns][4 inputs], each byte = weight + 128, the order of inputs as
//          above. every length is a multiple of 16, out of 64 (checked at load).
// Errors:  none.
// Threads: free functions over the caller's memory, any thread.
// Source:  docs/decisions/0003-encoder.md; outlier digits answer the observation of LLM.int8() (2022, section 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nn/encoder.h"

namespace hengshi::nn {

inline constexpr size_t kPanel = 16;        // output columns packed together
inline constexpr size_t kOutliers = 8;      // inputs that get a second digit
inline constexpr int kDigitShift = 4;       // x = scale · (16 · high + low), for outliers alone
inline constexpr size_t kColumnBlock = 64;  // columns are asked for in multiples of this

// One linear layer y = x·Wᵀ + b, its weights int8 per output column. Views into memory that the model owns.
struct PackedLinear {
  size_t in = 0;
  size_t out = 0;
  std::span<const uint16_t> outliers = {};  // kOutliers inputs, or none
  const uint8_t* weights = nullptr;
  const float* scale = nullptr;       // [out]
  const float* scaled_sum = nullptr;  // [out] scale · sum of the column's weights: what a zero point of 1 adds
  const float* bias = nullptr;        // [out]

  size_t packed_in() const { return outliers.size() + in; }
};

// x ≈ scale · (value − zero), row by row, so that a vector never depends on its neighbours.
struct QuantisedRows {
  int8_t* values = nullptr;
  size_t stride = 0;
  float* scale = nullptr;
  float* zero = nullptr;
  int32_t* sum = nullptr;  // of the values, high digits weighted by 16
};

enum class Epilogue { kPlain, kGelu, kResidual };

// Columns [begin, begin + count) of y, written to out at their own index.
struct LinearCall {
  size_t rows = 0;
  size_t begin = 0;
  size_t count = 0;
  float* out = nullptr;
  size_t out_stride = 0;
  Epilogue epilogue = Epilogue::kPlain;
  const float* residual = nullptr;  // [rows, out_stride], added when the epilogue says so
};

// Softmax(q·kᵀ)·v per head for query_rows queries over `tokens` keys; q is already divided by √head_size.
struct AttentionCall {
  const float* q = nullptr;
  const float* k = nullptr;
  const float* v = nullptr;
  size_t stride = 0;  // of q, k and v
  size_t query_rows = 0;
  size_t tokens = 0;
  size_t heads = 0;
  size_t head_size = 0;
  float* scratch = nullptr;  // attention_scratch() floats
  float* out = nullptr;      // [query_rows, heads · head_size]
};

inline size_t padded_tokens(size_t tokens) { return (tokens + 15) / 16 * 16; }
// Keys by column, and the scores of four queries.
inline size_t attention_scratch(size_t tokens, size_t head_size) { return padded_tokens(tokens) * (head_size + 4); }

struct Kernels {
  void (*quantise)(float* x, size_t rows, size_t n, std::span<const uint16_t> outliers, const QuantisedRows& out);
  void (*linear)(const PackedLinear& layer, const QuantisedRows& x, const LinearCall& call);
  void (*layer_norm)(float* x, size_t rows, size_t n, const float* gain, const float* bias, float epsilon);
  void (*attention)(const AttentionCall& call);
  void (*embed)(float* out, const int8_t* word, float word_scale, const float* position, size_t n);
};

// A level that this build does not hold (another architecture) falls back to plain C++.
const Kernels& kernels(CpuLevel level);

const Kernels& plain_kernels();
const Kernels* avx2_kernels();
const Kernels* avx512vnni_kernels();

}  // namespace hengshi::nn
