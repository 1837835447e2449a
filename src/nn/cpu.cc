#include <cstdlib>
#include <string_view>

#include "nn/encoder.h"
#include "nn/kernels.h"

namespace hengshi::nn {

namespace {

CpuLevel best_level() {
#if defined(__x86_64__)
  if (avx512vnni_kernels() != nullptr && __builtin_cpu_supports("avx512vnni") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    return CpuLevel::kAvx512Vnni;
  }
  if (avx2_kernels() != nullptr && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return CpuLevel::kAvx2;
  }
#endif
  return CpuLevel::kPlain;
}

}  // namespace

CpuLevel detect_cpu() {
  const CpuLevel best = best_level();
  const char* const asked = std::getenv("HENGSHI_CPU");
  if (asked == nullptr) return best;
  for (const CpuLevel level : {CpuLevel::kPlain, CpuLevel::kAvx2, CpuLevel::kAvx512Vnni}) {
    if (asked == cpu_level_name(level) && level < best) return level;
  }
  return best;
}

std::string_view cpu_level_name(CpuLevel level) {
  switch (level) {
    case CpuLevel::kPlain: return "plain";
    case CpuLevel::kAvx2: return "avx2";
    case CpuLevel::kAvx512Vnni: return "avx512";
  }
  return "plain";
}

const Kernels& kernels(CpuLevel level) {
  const Kernels* table = nullptr;
  if (level == CpuLevel::kAvx512Vnni) table = avx512vnni_kernels();
  if (level == CpuLevel::kAvx2) table = avx2_kernels();
  return table != nullptr ? *table : plain_kernels();
}

}  // namespace hengshi::nn
