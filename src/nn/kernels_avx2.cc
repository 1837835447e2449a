#include "nn/kernels_math.h"

#if defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>

namespace hengshi::nn {

namespace {

struct Avx2 {
  using Float = __m256;
  using Int = __m256i;
  static constexpr size_t kWidth = 8;
  static Float all(float x) { return _mm256_set1_ps(x); }
  static Float load(const float* p) { return _mm256_loadu_ps(p); }
  static Float load_int8(const int8_t* p) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
  }
  static void store(float* p, Float x) { _mm256_storeu_ps(p, x); }
  static Float add(Float a, Float b) { return _mm256_add_ps(a, b); }
  static Float sub(Float a, Float b) { return _mm256_sub_ps(a, b); }
  static Float mul(Float a, Float b) { return _mm256_mul_ps(a, b); }
  static Float fma(Float a, Float b, Float c) { return _mm256_fmadd_ps(a, b, c); }
  static Float min(Float a, Float b) { return _mm256_min_ps(a, b); }
  static Float max(Float a, Float b) { return _mm256_max_ps(a, b); }
  static Float round(Float a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
  static float sum(Float a) {
    __m128 s = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_add_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
  }
  static float least(Float a) {
    __m128 s = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    s = _mm_min_ps(s, _mm_movehl_ps(s, s));
    return _mm_cvtss_f32(_mm_min_ss(s, _mm_movehdup_ps(s)));
  }
  static float greatest(Float a) { return -least(_mm256_sub_ps(_mm256_setzero_ps(), a)); }
  static Float times_power_of_two(Float a, Float n) {
    const __m256i biased = _mm256_add_epi32(_mm256_cvtps_epi32(n), _mm256_set1_epi32(127));
    return _mm256_mul_ps(a, _mm256_castsi256_ps(_mm256_slli_epi32(biased, 23)));
  }
  static Int zero_int() { return _mm256_setzero_si256(); }
  static Int load_int(const int32_t* p) { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static Int to_int(Float a) { return _mm256_cvtps_epi32(a); }
  static Float to_float(Int a) { return _mm256_cvtepi32_ps(a); }
  static Int add_int(Int a, Int b) { return _mm256_add_epi32(a, b); }
  static int32_t sum_int(Int a) {
    __m128i s = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    s = _mm_add_epi32(s, _mm_shuffle_epi32(s, 0x4E));
    return _mm_cvtsi128_si32(_mm_add_epi32(s, _mm_shuffle_epi32(s, 0xB1)));
  }
  static Int saturate_int8(Int a) {
    return _mm256_min_epi32(_mm256_max_epi32(a, _mm256_set1_epi32(-128)), _mm256_set1_epi32(127));
  }
  static void store_int8(int8_t* p, Int a) {
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
  }
  static void transpose(const float* in, size_t stride, size_t tokens, size_t width, float* out, size_t padded) {
    transpose_plain(in, stride, tokens, width, out, padded);
  }
};

// vpmaddubsw adds two products in 16 bits: |x| · (±weight) is at most 2 · 128 · 127 and cannot saturate.
struct Avx2Dot {
  static constexpr size_t kRows = 4;
  static size_t columns(size_t /*rows*/) { return kPanel; }

  template <size_t Rows>
  static void accumulate(const int8_t* x, size_t stride, const uint8_t* weights, size_t groups,
                         __m256i (&sums)[Rows][2]) {
    const __m256i flip = _mm256_set1_epi8(-128);
    const __m256i ones = _mm256_set1_epi16(1);
    for (size_t k = 0; k < groups; ++k, x += 4, weights += 4 * kPanel) {
      const __m256i w[2] = {_mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights)), flip),
                            _mm256_xor_si256(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(weights + 32)), flip)};
#pragma GCC unroll 4
      for (size_t r = 0; r < Rows; ++r) {
        int32_t four = 0;
        std::memcpy(&four, x + r * stride, sizeof four);
        const __m256i value = _mm256_set1_epi32(four);
        const __m256i size = _mm256_abs_epi8(value);
        for (size_t c = 0; c < 2; ++c) {
          const __m256i pairs = _mm256_maddubs_epi16(size, _mm256_sign_epi8(w[c], value));
          sums[r][c] = _mm256_add_epi32(sums[r][c], _mm256_madd_epi16(pairs, ones));
        }
      }
    }
  }

  template <size_t Rows>
  static void tile_of(const PackedLinear& layer, const uint8_t* weights, const QuantisedRows& x, size_t row,
                      int32_t* out) {
    const int8_t* const values = x.values + row * x.stride;
    const size_t digits = layer.outliers.size();
    __m256i sums[Rows][2];
    for (auto& pair : sums) pair[0] = pair[1] = _mm256_setzero_si256();
    accumulate<Rows>(values, x.stride, weights, digits / 4, sums);
    for (auto& pair : sums) {
      for (auto& s : pair) s = _mm256_slli_epi32(s, kDigitShift);
    }
    accumulate<Rows>(values + digits, x.stride, weights + digits * kPanel, layer.in / 4, sums);
    for (auto& pair : sums) {
      for (auto& s : pair) {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), s);
        out += 8;
      }
    }
  }

  static void tile(const PackedLinear& layer, const uint8_t* weights, const QuantisedRows& x, size_t row, size_t rows,
                   size_t /*columns*/, int32_t* out) {
    switch (rows) {
      case 1: return tile_of<1>(layer, weights, x, row, out);
      case 2: return tile_of<2>(layer, weights, x, row, out);
      case 3: return tile_of<3>(layer, weights, x, row, out);
      default: return tile_of<4>(layer, weights, x, row, out);
    }
  }
};

}  // namespace

const Kernels* avx2_kernels() {
  static constexpr Kernels kTable = make_kernels<Avx2, Avx2Dot>();
  return &kTable;
}

}  // namespace hengshi::nn
#else
namespace hengshi::nn {
const Kernels* avx2_kernels() { return nullptr; }
}  // namespace hengshi::nn
#endif
