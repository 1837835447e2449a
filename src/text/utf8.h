// utf8.h — one code point at a time, never past the end.
//
// Errors:  an ill-formed byte reads as U+FFFD and one byte is consumed.
// Threads: free functions, any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hengshi::text {

inline constexpr char32_t kReplacement = 0xFFFD;

struct CodePoint {
  char32_t value = 0;
  size_t bytes = 1;
  bool valid = true;
};

// Precondition: at < s.size().
inline CodePoint decode(std::string_view s, size_t at) {
  const auto byte = [&](size_t i) -> uint32_t { return at + i < s.size() ? static_cast<uint8_t>(s[at + i]) : 0u; };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint32_t b = byte(0);
  if (b < 0x80) return {b, 1, true};
  if (b >= 0xC2 && b <= 0xDF && follows(1)) return {(b & 0x1F) << 6 | (byte(1) & 0x3F), 2, true};
  if (b >= 0xE0 && b <= 0xEF && follows(1) && follows(2)) {
    const uint32_t c = (b & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    if (c >= 0x800 && (c < 0xD800 || c > 0xDFFF)) return {c, 3, true};
  }
  if (b >= 0xF0 && b <= 0xF4 && follows(1) && follows(2) && follows(3)) {
    const uint32_t c = (b & 0x07) << 18 | (byte(1) & 0x3F) << 12 | (byte(2) & 0x3F) << 6 | (byte(3) & 0x3F);
    if (c >= 0x10000 && c <= 0x10FFFF) return {c, 4, true};
  }
  return {kReplacement, 1, false};
}

inline void append(std::string& out, char32_t c) {
  const auto put = [&](uint32_t b) { out += static_cast<char>(b); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6), put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18), put(0x80 | (c >> 12 & 0x3F)), put(0x80 | (c >> 6 & 0x3F)), put(0x80 | (c & 0x3F));
  }
}

inline bool is_han(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) || (c >= 0x20000 && c <= 0x3FFFF) ||
         (c >= 0xF900 && c <= 0xFAFF) || c == 0x3005 || c == 0x3007;
}

}  // namespace hengshi::text
