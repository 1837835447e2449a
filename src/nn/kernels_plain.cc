#include "nn/kernels_math.h"

namespace hengshi::nn {

namespace {

struct Scalar {
  using Float = float;
  using Int = int32_t;
  static constexpr size_t kWidth = 1;
  static Float all(float x) { return x; }
  static Float load(const float* p) { return *p; }
  static Float load_int8(const int8_t* p) { return static_cast<float>(*p); }
  static void store(float* p, Float x) { *p = x; }
  static Float add(Float a, Float b) { return a + b; }
  static Float sub(Float a, Float b) { return a - b; }
  static Float mul(Float a, Float b) { return a * b; }
  static Float fma(Float a, Float b, Float c) { return a * b + c; }
  static Float min(Float a, Float b) { return a < b ? a : b; }
  static Float max(Float a, Float b) { return a > b ? a : b; }
  static Float round(Float a) { return __builtin_rintf(a); }
  static float sum(Float a) { return a; }
  static float least(Float a) { return a; }
  static float greatest(Float a) { return a; }
  static Float times_power_of_two(Float a, Float n) {
    const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
    float power = 0;
    std::memcpy(&power, &bits, sizeof power);
    return a * power;
  }
  static Int zero_int() { return 0; }
  static Int load_int(const int32_t* p) { return *p; }
  static Int to_int(Float a) { return static_cast<int32_t>(__builtin_rintf(a)); }
  static Float to_float(Int a) { return static_cast<float>(a); }
  static Int add_int(Int a, Int b) { return a + b; }
  static int32_t sum_int(Int a) { return a; }
  static Int saturate_int8(Int a) { return a < -128 ? -128 : a > 127 ? 127 : a; }
  static void store_int8(int8_t* p, Int a) { *p = static_cast<int8_t>(a); }
  static void transpose(const float* in, size_t stride, size_t tokens, size_t width, float* out, size_t padded) {
    transpose_plain(in, stride, tokens, width, out, padded);
  }
};

struct PlainDot {
  static constexpr size_t kRows = 4;
  static size_t columns(size_t /*rows*/) { return kPanel; }

  static void accumulate(const int8_t* x, const uint8_t* weights, size_t groups, int32_t* sums) {
    for (size_t k = 0; k < groups; ++k, x += 4, weights += 4 * kPanel) {
      for (size_t c = 0; c < kPanel; ++c) {
        for (size_t j = 0; j < 4; ++j) sums[c] += x[j] * (weights[4 * c + j] - 128);
      }
    }
  }

  static void tile(const PackedLinear& layer, const uint8_t* weights, const QuantisedRows& x, size_t row, size_t rows,
                   size_t /*columns*/, int32_t* out) {
    const size_t digits = layer.outliers.size();
    for (size_t r = 0; r < rows; ++r, out += kPanel) {
      const int8_t* const values = x.values + (row + r) * x.stride;
      for (size_t c = 0; c < kPanel; ++c) out[c] = 0;
      accumulate(values, weights, digits / 4, out);
      for (size_t c = 0; c < kPanel; ++c) out[c] *= 1 << kDigitShift;
      accumulate(values + digits, weights + digits * kPanel, layer.in / 4, out);
    }
  }
};

}  // namespace

const Kernels& plain_kernels() {
  static constexpr Kernels kTable = make_kernels<Scalar, PlainDot>();
  return kTable;
}

}  // namespace hengshi::nn
