// numeral.h — the bare value of a number, in digits, Chinese numerals or English words.
//
// Errors:  what is no number reads as nothing.
// Threads: free functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hengshi::text {

struct Numeral {
  std::string value;        // canonical: "300", "1.5", "0571"
  size_t end = 0;           // behind the last byte read
  bool indefinite = false;  // 一, one: counts only before a unit
};

std::optional<Numeral> read_digits(std::string_view s, size_t at);           // 1,000 1.5 3万 007
std::optional<Numeral> read_chinese_numeral(std::string_view s, size_t at);  // 三百 一万二 两
std::optional<Numeral> read_english_numeral(std::string_view s, size_t at);  // twenty-five, a hundred, second

bool is_chinese_digit(char32_t c);  // 零…九 and 十, not 百 千 万 亿

}  // namespace hengshi::text
