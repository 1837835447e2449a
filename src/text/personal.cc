#include "text/personal.h"

#include <cctype>

namespace hengshi::text {

namespace {

constexpr int kLongNumber = 7;

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

// "０" … "９" in UTF-8: EF BC 90 … EF BC 99.
bool full_width_digit(std::string_view text, size_t i) {
  return i + 2 < text.size() && text[i] == '\xEF' && text[i + 1] == '\xBC' && text[i + 2] >= '\x90' &&
         text[i + 2] <= '\x99';
}

// Bytes a long number may be made of: digits, what may stand between them, and the three bytes of a full-width digit.
bool in_number(char c) {
  return (c >= '0' && c <= '9') || c == ' ' || c == '-' || c == '\xEF' || c == '\xBC' || (c >= '\x90' && c <= '\x99');
}

bool long_number(std::string_view stretch) {
  int digits = 0;
  for (size_t i = 0; i < stretch.size(); ++i) {
    const char c = stretch[i];
    if (c >= '0' && c <= '9') {
      ++digits;
    } else if (full_width_digit(stretch, i)) {
      ++digits;
      i += 2;
    } else if (c != ' ' && c != '-') {
      digits = 0;
    }
    if (digits >= kLongNumber) return true;
  }
  return false;
}

bool has_address(std::string_view text) {
  for (size_t at = text.find('@'); at != text.npos; at = text.find('@', at + 1)) {
    if (at > 0 && at + 1 < text.size() && word(text[at - 1]) && word(text[at + 1])) return true;
  }
  return false;
}

}  // namespace

// A long number covers one of every seven bytes, so only those are looked at, and what is around them.
bool has_personal_data(std::string_view text) {
  if (has_address(text)) return true;
  for (size_t i = kLongNumber - 1; i < text.size(); i += kLongNumber) {
    if (!in_number(text[i])) continue;
    size_t from = i, to = i + 1;
    while (from > 0 && in_number(text[from - 1])) --from;
    while (to < text.size() && in_number(text[to])) ++to;
    if (long_number(text.substr(from, to - from))) return true;
    i = to - 1;
  }
  return false;
}

}  // namespace hengshi::text
