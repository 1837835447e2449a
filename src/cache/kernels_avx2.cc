// Compiled with -mavx2 and called only where the CPU has it. Holds nothing but its kernels: an inline function
// instantiated here could be picked by the linker for every CPU.
#include "cache/kernels.h"

#if defined(__x86_64__)
#include <immintrin.h>

namespace hengshi::cache::avx2 {

namespace {

// Set bits of each byte.
__m256i bits_per_byte(__m256i v) {
  const __m256i table = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                         0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i nibble = _mm256_set1_epi8(15);
  const __m256i low = _mm256_shuffle_epi8(table, _mm256_and_si256(v, nibble));
  const __m256i high = _mm256_shuffle_epi8(table, _mm256_and_si256(_mm256_srli_epi16(v, 4), nibble));
  return _mm256_add_epi8(low, high);
}

}  // namespace

void distances(const Block* blocks, size_t n, const uint64_t* code, uint16_t* out) {
  for (size_t b = 0; b < n; ++b) {
    for (size_t half = 0; half < 2; ++half) {
      __m256i sum = _mm256_setzero_si256();  // at most 8 words of 8 bits a byte
      for (size_t w = 0; w < kCodeWords; ++w) {
        const auto* at = reinterpret_cast<const __m256i*>(blocks[b].words + w * kBlockCodes + half * 4);
        const __m256i query = _mm256_set1_epi64x(static_cast<long long>(code[w]));
        sum = _mm256_add_epi8(sum, bits_per_byte(_mm256_xor_si256(query, _mm256_load_si256(at))));
      }
      alignas(32) uint64_t lanes[4];
      _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), _mm256_sad_epu8(sum, _mm256_setzero_si256()));
      for (size_t lane = 0; lane < 4; ++lane) {
        out[b * kBlockCodes + half * 4 + lane] = static_cast<uint16_t>(lanes[lane]);
      }
    }
  }
}

int32_t dot(const int8_t* a, const int8_t* b, size_t n) {
  __m256i sum = _mm256_setzero_si256();
  for (size_t i = 0; i < n; i += 16) {
    const __m256i x = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(a + i)));
    const __m256i y = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(b + i)));
    sum = _mm256_add_epi32(sum, _mm256_madd_epi16(x, y));
  }
  alignas(32) int32_t lanes[8];
  _mm256_store_si256(reinterpret_cast<__m256i*>(lanes), sum);
  int32_t total = 0;
  for (const int32_t lane : lanes) total += lane;
  return total;
}

}  // namespace hengshi::cache::avx2
#endif
