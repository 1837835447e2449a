// Compiled with -mavx512bw -mavx512vl -mavx512vpopcntdq and called only where the CPU has them. Holds nothing but its
// kernels: an inline function instantiated here could be picked by the linker for every CPU.
#include "cache/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace hengshi::cache::avx512 {

void distances(const Block* blocks, size_t n, const uint64_t* code, uint16_t* out) {
  __m512i query[kCodeWords];
  for (size_t w = 0; w < kCodeWords; ++w) query[w] = _mm512_set1_epi64(static_cast<long long>(code[w]));
  for (size_t b = 0; b < n; ++b) {
    __m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();
    for (size_t w = 0; w < kCodeWords; w += 2) {
      const __m512i x = _mm512_xor_si512(query[w], _mm512_load_si512(blocks[b].words + w * kBlockCodes));
      const __m512i y = _mm512_xor_si512(query[w + 1], _mm512_load_si512(blocks[b].words + (w + 1) * kBlockCodes));
      even = _mm512_add_epi64(even, _mm512_popcnt_epi64(x));
      odd = _mm512_add_epi64(odd, _mm512_popcnt_epi64(y));
    }
    // The masked form with every lane on: GCC 12 warns that the plain one reads an uninitialised register.
    const __m128i packed = _mm512_maskz_cvtepi64_epi16(0xFF, _mm512_add_epi64(even, odd));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + b * kBlockCodes), packed);
  }
}

int32_t dot(const int8_t* a, const int8_t* b, size_t n) {
  __m512i sum = _mm512_setzero_si512();
  for (size_t i = 0; i < n; i += 32) {
    const __m512i x = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(a + i)));
    const __m512i y = _mm512_cvtepi8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(b + i)));
    sum = _mm512_add_epi32(sum, _mm512_madd_epi16(x, y));
  }
  alignas(64) int32_t lanes[16];
  _mm512_store_si512(lanes, sum);
  int32_t total = 0;
  for (const int32_t lane : lanes) total += lane;
  return total;
}

}  // namespace hengshi::cache::avx512
#endif
