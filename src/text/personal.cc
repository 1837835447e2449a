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

}  // namespace

bool has_personal_data(std::string_view text) {
  int digits = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c >= '0' && c <= '9') {
      ++digits;
    } else if (c == ' ' || c == '-') {
      continue;
    } else if (c == '@' && i > 0 && i + 1 < text.size() && word(text[i - 1]) && word(text[i + 1])) {
      return true;
    } else if (full_width_digit(text, i)) {
      ++digits;
      i += 2;
    } else {
      digits = 0;
      continue;
    }
    if (digits >= kLongNumber) return true;
  }
  return false;
}

}  // namespace hengshi::text
