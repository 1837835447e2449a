#include "nn/kernels_math.h"

#if defined(__AVX512F__) && defined(__AVX512VNNI__) && defined(__AVX512BW__)
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // of GCC 12's own intrinsics (PR 105593)
#endif
#include <immintrin.h>

namespace hengshi::nn {

namespace {

struct Avx512 {
  using Float = __m512;
  using Int = __m512i;
  static constexpr size_t kWidth = 16;
  static Float all(float x) { return _mm512_set1_ps(x); }
  static Float load(const float* p) { return _mm512_loadu_ps(p); }
  static Float load_int8(const int8_t* p) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
  }
  static void store(float* p, Float x) { _mm512_storeu_ps(p, x); }
  static Float add(Float a, Float b) { return _mm512_add_ps(a, b); }
  static Float sub(Float a, Float b) { return _mm512_sub_ps(a, b); }
  static Float mul(Float a, Float b) { return _mm512_mul_ps(a, b); }
  static Float fma(Float a, Float b, Float c) { return _mm512_fmadd_ps(a, b, c); }
  static Float min(Float a, Float b) { return _mm512_min_ps(a, b); }
  static Float max(Float a, Float b) { return _mm512_max_ps(a, b); }
  static Float round(Float a) { return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static float sum(Float a) { return _mm512_reduce_add_ps(a); }
  static float least(Float a) { return _mm512_reduce_min_ps(a); }
  static float greatest(Float a) { return _mm512_reduce_max_ps(a); }
  static Float times_power_of_two(Float a, Float n) { return _mm512_scalef_ps(a, n); }
  static Int zero_int() { return _mm512_setzero_si512(); }
  static Int load_int(const int32_t* p) { return _mm512_loadu_si512(p); }
  static Int to_int(Float a) { return _mm512_cvtps_epi32(a); }
  static Float to_float(Int a) { return _mm512_cvtepi32_ps(a); }
  static Int add_int(Int a, Int b) { return _mm512_add_epi32(a, b); }
  static int32_t sum_int(Int a) { return _mm512_reduce_add_epi32(a); }
  static Int saturate_int8(Int a) {
    return _mm512_min_epi32(_mm512_max_epi32(a, _mm512_set1_epi32(-128)), _mm512_set1_epi32(127));
  }
  static void store_int8(int8_t* p, Int a) { _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a)); }
  static void transpose(const float* in, size_t stride, size_t tokens, size_t width, float* out, size_t padded) {
    transpose_plain(in, stride, tokens, width, out, padded);
  }
};

// Sixteen sums are in flight whatever the number of rows: few rows take more columns.
struct VnniDot {
  static constexpr size_t kRows = 8;
  static size_t columns(size_t rows) { return rows <= 4 ? 64 : 32; }

  template <size_t Rows, size_t Panels>
  static void accumulate(const int8_t* x, size_t stride, const uint8_t* weights, size_t panel_bytes, size_t groups,
                         __m512i (&sums)[Rows][Panels]) {
    for (size_t k = 0; k < groups; ++k, x += 4, weights += 4 * kPanel) {
      __m512i w[Panels];
#pragma GCC unroll 4
      for (size_t p = 0; p < Panels; ++p) w[p] = _mm512_loadu_si512(weights + p * panel_bytes);
#pragma GCC unroll 8
      for (size_t r = 0; r < Rows; ++r) {
        int32_t four = 0;
        std::memcpy(&four, x + r * stride, sizeof four);
        const __m512i value = _mm512_set1_epi32(four);
#pragma GCC unroll 4
        for (size_t p = 0; p < Panels; ++p) sums[r][p] = _mm512_dpbusd_epi32(sums[r][p], w[p], value);
      }
    }
  }

  template <size_t Rows, size_t Panels>
  static void tile_of(const PackedLinear& layer, const uint8_t* weights, const QuantisedRows& x, size_t row,
                      int32_t* out) {
    const int8_t* const values = x.values + row * x.stride;
    const size_t digits = layer.outliers.size();
    const size_t panel_bytes = layer.packed_in() * kPanel;
    __m512i sums[Rows][Panels];
    for (auto& of_row : sums) {
      for (auto& s : of_row) s = _mm512_setzero_si512();
    }
    if (digits != 0) {
      accumulate<Rows, Panels>(values, x.stride, weights, panel_bytes, digits / 4, sums);
      for (auto& of_row : sums) {
        for (auto& s : of_row) s = _mm512_slli_epi32(s, kDigitShift);
      }
    }
    accumulate<Rows, Panels>(values + digits, x.stride, weights + digits * kPanel, panel_bytes, layer.in / 4, sums);
    for (size_t r = 0; r < Rows; ++r) {  // The weights went in 128 too high.
      const __m512i excess = _mm512_set1_epi32(x.sum[row + r] * 128);
      for (auto& s : sums[r]) {
        _mm512_storeu_si512(out, _mm512_sub_epi32(s, excess));
        out += kPanel;
      }
    }
  }

  static void tile(const PackedLinear& layer, const uint8_t* weights, const QuantisedRows& x, size_t row, size_t rows,
                   size_t columns, int32_t* out) {
    if (columns == 64) {
      switch (rows) {
        case 1: return tile_of<1, 4>(layer, weights, x, row, out);
        case 2: return tile_of<2, 4>(layer, weights, x, row, out);
        case 3: return tile_of<3, 4>(layer, weights, x, row, out);
        default: return tile_of<4, 4>(layer, weights, x, row, out);
      }
    }
    switch (rows) {
      case 4: return tile_of<4, 2>(layer, weights, x, row, out);
      case 5: return tile_of<5, 2>(layer, weights, x, row, out);
      case 6: return tile_of<6, 2>(layer, weights, x, row, out);
      case 7: return tile_of<7, 2>(layer, weights, x, row, out);
      default: return tile_of<8, 2>(layer, weights, x, row, out);
    }
  }
};

}  // namespace

const Kernels* avx512vnni_kernels() {
  static constexpr Kernels kTable = make_kernels<Avx512, VnniDot>();
  return &kTable;
}

}  // namespace hengshi::nn
#else
namespace hengshi::nn {
const Kernels* avx512vnni_kernels() { return nullptr; }
}  // namespace hengshi::nn
#endif
