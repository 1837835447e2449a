#include "cache/kernels.h"

#include <bit>
#include <cstdlib>

namespace hengshi::cache {

namespace plain {

void distances(const Block* blocks, size_t n, const uint64_t* code, uint16_t* out) {
  for (size_t b = 0; b < n; ++b) {
    for (size_t lane = 0; lane < kBlockCodes; ++lane) {
      int sum = 0;
      for (size_t w = 0; w < kCodeWords; ++w) sum += std::popcount(code[w] ^ blocks[b].words[w * kBlockCodes + lane]);
      out[b * kBlockCodes + lane] = static_cast<uint16_t>(sum);
    }
  }
}

int32_t dot(const int8_t* a, const int8_t* b, size_t n) {
  int32_t sum = 0;
  for (size_t i = 0; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace plain

const std::vector<Kernels>& runnable_kernels() {
  static const std::vector<Kernels> levels = [] {
    std::vector<Kernels> found;
#if defined(__x86_64__)
    const char* wish = std::getenv("HENGSHI_CPU");
    const std::string_view level = wish == nullptr ? "avx512" : wish;
    if (level == "avx512" && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vpopcntdq")) {
      found.push_back({"avx512", avx512::distances, avx512::dot});
    }
    if (level != "plain" && __builtin_cpu_supports("avx2")) found.push_back({"avx2", avx2::distances, avx2::dot});
#endif
    found.push_back({"plain", plain::distances, plain::dot});
    return found;
  }();
  return levels;
}

}  // namespace hengshi::cache
