// embedding_cache.h — an encoder that remembers the texts it encoded last: many users ask the same question.
//
// Shapes:  as encoder.h; the vectors are the very ones the encoder gives.
// Units:   memory in bytes, of texts, vectors and bookkeeping together.
// Errors:  none; what is too long to be asked twice is encoded each time.
// Threads: encode() from any thread; a lock per shard, never held while encoding.
// Source:  SIEVE (Zhang et al., NSDI 2024): first in, first out, but what was asked again stays for a round.
#pragma once

#include <cstddef>
#include <memory>

#include "nn/encoder.h"

namespace hengshi::nn {

inline constexpr size_t kEmbeddingCacheBytes = size_t{8} << 20;  // some 4,000 questions

std::unique_ptr<const Encoder> with_embedding_cache(std::unique_ptr<const Encoder> encoder,
                                                    size_t bytes = kEmbeddingCacheBytes);

}  // namespace hengshi::nn
