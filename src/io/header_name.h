// header_name.h — header names are equal in any case.
//
// Threads: free functions.
// Source:  RFC 9110 section 5.1.
#pragma once

#include <algorithm>
#include <string_view>

namespace hengshi::io {

constexpr char ascii_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

constexpr bool equal_names(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, {}, ascii_lower, ascii_lower);
}

}  // namespace hengshi::io
