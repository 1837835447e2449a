// digest.h — SHA-256, cut to 128 bits where it is a key in memory.
//
// Errors:  none: OpenSSL's digest cannot fail on memory it is given; a failure is a CHECK.
// Threads: free functions, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace hengshi {

using Digest = std::array<uint8_t, 16>;

Digest digest(std::string_view bytes);
std::string sha256_hex(std::string_view bytes);
std::string to_hex(const Digest& digest);

struct DigestHash {
  size_t operator()(const Digest& d) const {
    size_t h = 0;
    std::memcpy(&h, d.data(), sizeof h);
    return h;
  }
};

}  // namespace hengshi
