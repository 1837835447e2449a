#include "text/numeral.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "text/utf8.h"

namespace hengshi::text {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

int digit_value(char32_t c) {
  constexpr std::u32string_view kPlain = U"零一二三四五六七八九";
  constexpr std::u32string_view kFormal = U"〇壹贰叁肆伍陆柒捌玖";
  if (c == U'两') return 2;
  const size_t at = std::min(kPlain.find(c), kFormal.find(c));
  return at == std::u32string_view::npos ? -1 : static_cast<int>(at);
}

double multiplier(char32_t c) {
  switch (c) {
    case U'十':
    case U'拾': return 10;
    case U'百':
    case U'佰': return 100;
    case U'千':
    case U'仟': return 1000;
    case U'万': return 1e4;
    case U'亿': return 1e8;
    default: return 0;
  }
}

double to_double(std::string_view s) {
  double value = 0;
  std::from_chars(s.data(), s.data() + s.size(), value);
  return value;
}

// 千克 and 千米 are units, their 千 multiplies nothing.
bool opens_unit(std::string_view s, size_t at) {
  for (const std::string_view unit : {"千克", "千米", "千瓦", "千卡"}) {
    if (s.substr(at).starts_with(unit)) return true;
  }
  return false;
}

std::string canonical(double value) { return fmt::format("{:.15g}", value); }

// "007" -> "007", "05" -> "5", "5.0" -> "5", "1,000" -> "1000": a long number is a name and keeps its zeros.
std::string canonical_digits(std::string digits) {
  std::erase(digits, ',');
  const size_t dot = digits.find('.');
  if (dot != std::string::npos) {
    while (digits.back() == '0') digits.pop_back();
    if (digits.back() == '.') digits.pop_back();
  }
  const size_t whole = std::min(digits.find('.'), digits.size());
  if (whole == 2 && digits[0] == '0') digits.erase(0, 1);
  return digits;
}

// 一百二 is 120: a last digit right behind a multiplier counts in the next lower one.
double chinese_value(std::u32string_view run) {
  double total = 0, section = 0, last = 0;
  int digit = -1;
  bool after_zero = false;
  for (const char32_t c : run) {
    const double m = multiplier(c);
    if (m == 0) {
      digit = digit_value(c);
      after_zero |= digit == 0;
      continue;
    }
    if (m < 1e4) {
      section += (digit < 0 ? 1 : digit) * m;
    } else {
      section += std::max(digit, 0);
      total = m == 1e8 ? (total + section) * m : total + section * m;
      section = 0;
    }
    last = m, digit = -1, after_zero = false;
  }
  const bool shortened = last > 10 && !after_zero;
  return total + section + (digit > 0 ? digit * (shortened ? last / 10 : 1) : 0);
}

struct Word {
  std::string_view text;
  double value;
};

constexpr std::array kOnes = {
    Word{"zero", 0},     Word{"one", 1},      Word{"two", 2},        Word{"three", 3},     Word{"four", 4},
    Word{"five", 5},     Word{"six", 6},      Word{"seven", 7},      Word{"eight", 8},     Word{"nine", 9},
    Word{"ten", 10},     Word{"eleven", 11},  Word{"twelve", 12},    Word{"thirteen", 13}, Word{"fourteen", 14},
    Word{"fifteen", 15}, Word{"sixteen", 16}, Word{"seventeen", 17}, Word{"eighteen", 18}, Word{"nineteen", 19},
    Word{"twenty", 20},  Word{"thirty", 30},  Word{"forty", 40},     Word{"fifty", 50},    Word{"sixty", 60},
    Word{"seventy", 70}, Word{"eighty", 80},  Word{"ninety", 90},    Word{"dozen", 12},    Word{"first", 1},
    Word{"second", 2},   Word{"third", 3},    Word{"fourth", 4},     Word{"fifth", 5},     Word{"sixth", 6},
    Word{"tenth", 10},
};
constexpr std::array kMultipliers = {Word{"hundred", 100}, Word{"thousand", 1e3}, Word{"million", 1e6},
                                     Word{"billion", 1e9}};

template <size_t N>
double find(const std::array<Word, N>& words, std::string_view text) {
  const auto it = std::find_if(words.begin(), words.end(), [&](const Word& w) { return w.text == text; });
  return it == words.end() ? -1 : it->value;
}

std::string_view word_at(std::string_view s, size_t at) {
  at = std::min(at, s.size());
  size_t end = at;
  while (end < s.size() && is_letter(s[end])) ++end;
  return s.substr(at, end - at);
}

// Adds 万, 亿 … behind digits: 3万, and 3万5 or 3万5千 behind them.
Numeral scale(std::string_view s, Numeral n) {
  const CodePoint c = n.end < s.size() ? decode(s, n.end) : CodePoint{};
  const double m = multiplier(c.value);
  if (m < 100 || n.value.size() > 12 || opens_unit(s, n.end)) return n;
  n.end += c.bytes;
  double value = to_double(n.value) * m;
  if (const auto rest = read_digits(s, n.end)) {
    const bool single = rest->end == n.end + 1;
    value += single ? to_double(rest->value) * m / 10 : to_double(rest->value);
    n.end = rest->end;
  }
  n.value = canonical(value);
  return n;
}

// k, thousand, million … behind digits.
Numeral scale_english(std::string_view s, Numeral n) {
  if (n.value.size() > 12) return n;
  const size_t gap = n.end < s.size() && s[n.end] == ' ' ? 1 : 0;
  const std::string_view word = word_at(s, n.end + gap);
  const double m = word == "k" && gap == 0 ? 1000 : find(kMultipliers, word);
  if (m < 0) return n;
  n.value = canonical(to_double(n.value) * m);
  n.end += gap + word.size();
  return n;
}

}  // namespace

bool is_chinese_digit(char32_t c) { return digit_value(c) >= 0 || multiplier(c) == 10; }

std::optional<Numeral> read_digits(std::string_view s, size_t at) {
  size_t end = at;
  while (end < s.size() && is_digit(s[end])) ++end;
  if (end == at) return std::nullopt;
  const auto digits_at = [&](size_t i, size_t n) {
    for (size_t k = 0; k < n; ++k) {
      if (i + k >= s.size() || !is_digit(s[i + k])) return false;
    }
    return true;
  };
  while (end - at <= 15 && end < s.size() && s[end] == ',' && digits_at(end + 1, 3) && !digits_at(end + 1, 4)) end += 4;
  if (end < s.size() && s[end] == '.' && digits_at(end + 1, 1)) {
    for (++end; end < s.size() && is_digit(s[end]);) ++end;
  }
  Numeral n{canonical_digits(std::string(s.substr(at, end - at))), end};
  n = scale(s, std::move(n));
  return scale_english(s, std::move(n));
}

std::optional<Numeral> read_chinese_numeral(std::string_view s, size_t at) {
  std::u32string run;
  size_t end = at;
  bool multiplied = false;
  while (end < s.size() && run.size() < 24) {
    const CodePoint c = decode(s, end);
    if ((digit_value(c.value) < 0 && multiplier(c.value) == 0) || opens_unit(s, end)) break;
    if (run.empty() && multiplier(c.value) > 10) return std::nullopt;  // 百合, 千万, 万能
    multiplied |= multiplier(c.value) > 0;
    run += c.value;
    end += c.bytes;
  }
  if (run.empty()) return std::nullopt;
  if (multiplied) return Numeral{canonical(chinese_value(run)), end};
  std::string spelled;
  for (const char32_t c : run) spelled += static_cast<char>('0' + digit_value(c));
  return Numeral{canonical_digits(std::move(spelled)), end, run == U"一"};
}

std::optional<Numeral> read_english_numeral(std::string_view s, size_t at) {
  double total = 0, current = -1;
  size_t end = at, next = at;
  std::string_view word = word_at(s, at);
  if (word == "a" || word == "an") {
    next = at + word.size() + 1;
    word = word_at(s, next);
    if (find(kMultipliers, word) < 0 && word != "dozen") return std::nullopt;
  }
  while (!word.empty()) {
    const double one = find(kOnes, word), m = find(kMultipliers, word);
    if (one >= 0) {
      const bool joins = (current >= 20 && current < 100 && std::fmod(current, 10) == 0 && one < 10) || current >= 100;
      if (current >= 0 && !joins) break;
      current = std::max(current, 0.0) + one;
    } else if (m == 100) {
      current = (current < 0 ? 1 : current) * m;
    } else if (m > 0) {
      total += (current < 0 ? 1 : current) * m;
      current = -1;
    } else if (word != "and" || end == at) {
      break;
    }
    if (word != "and") end = next + word.size();
    next += word.size() + 1;
    if (next >= s.size() || (s[next - 1] != ' ' && s[next - 1] != '-')) break;
    word = word_at(s, next);
  }
  if (end == at) return std::nullopt;
  return Numeral{canonical(total + std::max(current, 0.0)), end, s.substr(at, end - at) == "one"};
}

}  // namespace hengshi::text
