#include "base/digest.h"

#include <openssl/evp.h>

#include <memory>

#include "base/check.h"

namespace hengshi {

namespace {

// Kept, since finding the algorithm anew costs more than hashing a small text.
std::array<uint8_t, 32> sha256(std::string_view bytes) {
  static EVP_MD* const kSha256 = EVP_MD_fetch(nullptr, "SHA256", nullptr);
  thread_local const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  std::array<uint8_t, 32> out;
  const bool done = EVP_DigestInit_ex2(context.get(), kSha256, nullptr) == 1 &&
                    EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1 &&
                    EVP_DigestFinal_ex(context.get(), out.data(), nullptr) == 1;
  CHECK(done, "SHA-256 is there and takes any bytes");
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
