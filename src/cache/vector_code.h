// vector_code.h — an embedding as int8 (to rank by) and as 512 sign bits (to search by).
//
// Shapes:  embedding f32[dim]; values int8[dim rounded up to 64], zeros behind dim; code u64[8].
// Units:   embedding ≈ scale * values.
// Errors:  quantise() gives nothing for a vector that is empty, not finite or all zero.
// Threads: pure functions.
// Source:  docs/decisions/0004-cache.md; rotation by random signs and Walsh-Hadamard as in Ailon & Chazelle 2006, "fast
//          Johnson-Lindenstrauss".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cache/kernels.h"

namespace hengshi::cache {

using Code = std::array<uint64_t, kCodeWords>;

struct Quantised {
  std::vector<int8_t> values;
  float scale = 0;
};

std::optional<Quantised> quantise(std::span<const float> embedding);

// Always of the quantised values, so that an entry has one code before and after a restart.
Code sign_code(std::span<const int8_t> values);

}  // namespace hengshi::cache
