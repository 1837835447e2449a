#include "base/digest.h"

#include <openssl/sha.h>

namespace hengshi {

namespace {

std::array<uint8_t, 32> sha256(std::string_view bytes) {
  std::array<uint8_t, 32> out;
  SHA256(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size(), out.data());
  return out;
}

std::string hex(const uint8_t* bytes, size_t n) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out(2 * n, '0');
  for (size_t i = 0; i < n; ++i) {
    out[2 * i] = kDigits[bytes[i] >> 4];
    out[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  return out;
}

}  // namespace

Digest digest(std::string_view bytes) {
  const auto full = sha256(bytes);
  Digest out;
  std::memcpy(out.data(), full.data(), out.size());
  return out;
}

std::string sha256_hex(std::string_view bytes) {
  const auto full = sha256(bytes);
  return hex(full.data(), full.size());
}

std::string to_hex(const Digest& d) { return hex(d.data(), d.size()); }

}  // namespace hengshi
