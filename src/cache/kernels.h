// kernels.h — the two inner loops of the semantic index, by CPU level.
//
// Shapes:  a block holds 8 codes of 512 bits by column: word w of code l at [8 * w + l]. Vectors int8[n], n % 64 == 0.
// Errors:  none; every level gives the same integers.
// Threads: pure functions.
// Source:  docs/decisions/0004-cache.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hengshi::cache {

inline constexpr size_t kCodeWords = 8;
inline constexpr size_t kBlockCodes = 8;

struct alignas(64) Block {
  uint64_t words[kCodeWords * kBlockCodes] = {};
};

struct Kernels {
  std::string_view name;
  // Hamming distances of `code` to the 8 * n codes of `blocks`.
  void (*distances)(const Block* blocks, size_t n, const uint64_t* code, uint16_t* out);
  int32_t (*dot)(const int8_t* a, const int8_t* b, size_t n);
};

// Those this CPU runs, best first. HENGSHI_CPU=plain|avx2|avx512 lowers the level, as it does for the encoder.
const std::vector<Kernels>& runnable_kernels();
inline const Kernels& kernels() { return runnable_kernels().front(); }

namespace plain {
void distances(const Block* blocks, size_t n, const uint64_t* code, uint16_t* out);
int32_t dot(const int8_t* a, const int8_t* b, size_t n);
}  // namespace plain
#if defined(__x86_64__)
namespace avx2 {
void distances(const Block* blocks, size_t n, const uint64_t* code, uint16_t* out);
int32_t dot(const int8_t* a, const int8_t* b, size_t n);
}  // namespace avx2
namespace avx512 {
void distances(const Block* blocks, size_t n, const uint64_t* code, uint16_t* out);
int32_t dot(const int8_t* a, const int8_t* b, size_t n);
}  // namespace avx512
#endif

}  // namespace hengshi::cache
