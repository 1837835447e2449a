#include "text/quantity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <unordered_map>
#include <utility>

#include "text/numeral.h"
#include "text/utf8.h"

namespace hengshi::text {

namespace {

struct Unit {
  std::string_view word, name;
};

// Longer words before their beginnings.
constexpr std::array kChineseUnits = {
    Unit{"公斤", "kg"},     Unit{"千克", "kg"},   Unit{"毫克", "mg"},      Unit{"克", "g"},      Unit{"斤", "斤"},
    Unit{"吨", "t"},        Unit{"公里", "km"},   Unit{"千米", "km"},      Unit{"厘米", "cm"},   Unit{"公分", "cm"},
    Unit{"毫米", "mm"},     Unit{"平方米", "m2"}, Unit{"平米", "m2"},      Unit{"米", "m"},      Unit{"毫升", "ml"},
    Unit{"升", "l"},        Unit{"摄氏度", "°c"}, Unit{"度电", "kwh"},     Unit{"度", "°"},      Unit{"小时", "h"},
    Unit{"钟头", "h"},      Unit{"分钟", "min"},  Unit{"刻钟", "quarter"}, Unit{"秒钟", "s"},    Unit{"秒", "s"},
    Unit{"天", "day"},      Unit{"周", "week"},   Unit{"星期", "week"},    Unit{"礼拜", "week"}, Unit{"个月", "month"},
    Unit{"季度", "season"}, Unit{"年", "year"},   Unit{"岁", "year"},      Unit{"块钱", "cny"},  Unit{"元钱", "cny"},
    Unit{"元", "cny"},      Unit{"块", "cny"},    Unit{"人民币", "cny"},   Unit{"美元", "usd"},  Unit{"美金", "usd"},
    Unit{"欧元", "eur"},    Unit{"英镑", "gbp"},  Unit{"港币", "hkd"},     Unit{"港元", "hkd"},  Unit{"日元", "jpy"},
    Unit{"角", "角"},       Unit{"毛", "角"},     Unit{"分", "分"},        Unit{"折", "折"},     Unit{"倍", "x"},
    Unit{"瓦", "w"},        Unit{"伏", "v"},      Unit{"兆", "mb"},
};

const std::unordered_map<std::string_view, std::string_view>& english_units() {
  static const std::unordered_map<std::string_view, std::string_view> units = [] {
    constexpr std::pair<std::string_view, std::string_view> kNames[] = {
        {"kg", "kg kgs kilogram kilograms kilo kilos"},
        {"g", "g gram grams"},
        {"mg", "mg milligram milligrams"},
        {"lb", "lb lbs pound pounds"},
        {"oz", "oz ounce ounces"},
        {"t", "t ton tons tonne tonnes"},
        {"km", "km kms kilometer kilometers kilometre kilometres"},
        {"m", "m meter meters metre metres"},
        {"cm", "cm centimeter centimeters centimetre centimetres"},
        {"mm", "mm millimeter millimeters"},
        {"mile", "mile miles mi"},
        {"ft", "ft foot feet"},
        {"inch", "inch inches"},
        {"ml", "ml milliliter milliliters"},
        {"l", "l liter liters litre litres"},
        {"kb", "kb"},
        {"mb", "mb megabyte megabytes"},
        {"gb", "gb gigabyte gigabytes"},
        {"tb", "tb terabyte terabytes"},
        {"mbps", "mbps"},
        {"hz", "hz"},
        {"mhz", "mhz"},
        {"ghz", "ghz"},
        {"w", "w watt watts"},
        {"kw", "kw"},
        {"kwh", "kwh"},
        {"v", "v volt volts"},
        {"mah", "mah"},
        {"h", "h hr hrs hour hours"},
        {"min", "min mins minute minutes"},
        {"s", "s sec secs second seconds"},
        {"ms", "ms"},
        {"day", "d day days"},
        {"week", "week weeks wk wks"},
        {"month", "month months"},
        {"year", "year years yr yrs"},
        {"usd", "usd dollar dollars buck bucks"},
        {"cent", "cent cents"},
        {"eur", "eur euro euros"},
        {"gbp", "gbp"},
        {"cny", "cny rmb yuan"},
        {"jpy", "jpy yen"},
        {"%", "percent"},
        {"°", "degree degrees"},
        {"x", "x"},
    };
    std::unordered_map<std::string_view, std::string_view> built;
    for (const auto& [name, words] : kNames) {
      for (size_t at = 0; at < words.size();) {
        const size_t end = std::min(words.find(' ', at), words.size());
        built.emplace(words.substr(at, end - at), name);
        at = end + 1;
      }
    }
    return built;
  }();
  return units;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool starts(std::string_view s, size_t at, std::string_view with) {
  return at <= s.size() && s.substr(at).starts_with(with);
}

size_t letters_end(std::string_view s, size_t at) {
  while (at < s.size() && is_letter(s[at])) ++at;
  return at;
}

int small_int(std::string_view value) {
  int n = -1;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
  return error == std::errc() && end == value.data() + value.size() ? n : -1;
}

std::optional<Numeral> read_number(std::string_view s, size_t at) {
  if (at >= s.size()) return std::nullopt;
  if (is_digit(s[at])) return read_digits(s, at);
  if (is_letter(s[at])) return read_english_numeral(s, at);
  return read_chinese_numeral(s, at);
}

std::string clock_time(int hour, int minute, DayPart part) {
  if (part == DayPart::kAfternoon && hour < 12) hour += 12;
  if (part == DayPart::kMorning && hour == 12) hour = 0;
  return fmt::format("{}:{:02}", hour, minute);
}

struct Meridiem {
  DayPart part = DayPart::kNone;
  size_t end = 0;
};

Meridiem read_meridiem(std::string_view s, size_t at) {
  const size_t from = starts(s, at, " ") ? at + 1 : at;
  for (const auto& [word, part] : {std::pair{"am", DayPart::kMorning},
                                   {"pm", DayPart::kAfternoon},
                                   {"a.m", DayPart::kMorning},
                                   {"p.m", DayPart::kAfternoon}}) {
    const size_t end = from + std::string_view(word).size();
    if (starts(s, from, word) && letters_end(s, end) == end) return {part, end};
  }
  return {DayPart::kNone, at};
}

// 3:30, 3:30pm, 3pm, 3 o'clock.
std::optional<Quantity> read_clock(std::string_view s, const Numeral& n, DayPart part) {
  const int hour = small_int(n.value);
  if (hour < 0 || hour > 24) return std::nullopt;
  const auto two_digits = [&](size_t at) { return at + 1 < s.size() && is_digit(s[at]) && is_digit(s[at + 1]); };
  int minute = -1;
  size_t end = n.end;
  if (starts(s, end, ":") && two_digits(end + 1) && !(end + 3 < s.size() && is_digit(s[end + 3]))) {
    minute = (s[end + 1] - '0') * 10 + s[end + 2] - '0';
    end += 3;
  }
  const Meridiem meridiem = read_meridiem(s, end);
  const bool o_clock = starts(s, end, " o'clock");
  if (minute < 0 && meridiem.part == DayPart::kNone && !o_clock) return std::nullopt;
  if (meridiem.part != DayPart::kNone) part = meridiem.part;
  end = o_clock ? end + 8 : meridiem.end;
  return Quantity{clock_time(hour, std::max(minute, 0), part), end, true};
}

// 三点, 三点半, 三点十五, 3点30分; and the decimal 三点五.
std::optional<Quantity> read_chinese_clock(std::string_view s, const Numeral& n, DayPart part) {
  constexpr std::string_view kPoint = "点";
  const int hour = small_int(n.value);
  if (!starts(s, n.end, kPoint) || hour < 0 || hour > 24) return std::nullopt;
  size_t end = n.end + kPoint.size();
  if (starts(s, end, "半")) return Quantity{clock_time(hour, 30, part), end + 3, true};
  if (starts(s, end, "一刻")) return Quantity{clock_time(hour, 15, part), end + 6, true};
  if (starts(s, end, "三刻")) return Quantity{clock_time(hour, 45, part), end + 6, true};
  if (starts(s, end, "钟") || starts(s, end, "整")) return Quantity{clock_time(hour, 0, part), end + 3, true};
  const auto minute = end < s.size() && !is_letter(s[end]) ? read_number(s, end) : std::nullopt;
  if (minute) {
    const int value = small_int(minute->value);
    const bool said = starts(s, minute->end, "分") && !starts(s, minute->end, "分之");
    if (value >= 0 && value < 60 && (said || value >= 10 || part != DayPart::kNone)) {
      return Quantity{clock_time(hour, value, part), minute->end + (said ? 3 : 0), true};
    }
    return std::nullopt;
  }
  if (n.indefinite && part == DayPart::kNone) return Quantity{"", end};  // 快一点
  return Quantity{clock_time(hour, 0, part), end, true};
}

// 三点五 as a number.
void extend_decimal(std::string_view s, Numeral& n) {
  constexpr std::string_view kPoint = "点";
  if (!starts(s, n.end, kPoint) || n.value.find('.') != std::string::npos) return;
  const size_t at = n.end + kPoint.size();
  if (at >= s.size() || is_letter(s[at])) return;
  const auto fraction = read_number(s, at);
  if (!fraction) return;
  n.value += '.' + fraction->value;
  n.end = fraction->end;
  n.indefinite = false;
}

bool is_duration(std::string_view unit) {
  for (const std::string_view name : {"day", "week", "month", "year", "h", "min", "s", "quarter", "season"}) {
    if (unit == name) return true;
  }
  return false;
}

// A date's part is a name, not an amount: 3月 is March, 5号 and 2024年 are plain.
std::optional<Quantity> read_date_part(std::string_view s, const Numeral& n) {
  const int value = small_int(n.value);
  if (starts(s, n.end, "月") && value >= 1 && value <= 12) return Quantity{"m" + n.value, n.end + 3};
  if (starts(s, n.end, "年") && value >= 1000 && n.value.size() == 4) return Quantity{n.value, n.end + 3};
  if ((starts(s, n.end, "日") && !starts(s, n.end, "日元")) || starts(s, n.end, "号")) {
    return Quantity{n.value, n.end + 3};
  }
  return std::nullopt;
}

std::optional<Quantity> with_chinese_unit(std::string_view s, const Numeral& n) {
  for (const size_t skip : {size_t{0}, std::string_view("个").size()}) {
    if (skip != 0 && !starts(s, n.end, "个")) break;
    for (const Unit& unit : kChineseUnits) {
      if (!starts(s, n.end + skip, unit.word)) continue;
      const size_t end = n.end + skip + unit.word.size();
      return Quantity{n.value + std::string(unit.name), end, false, is_duration(unit.name), unit.name};
    }
  }
  return std::nullopt;
}

std::optional<Quantity> with_english_unit(std::string_view s, const Numeral& n) {
  if (starts(s, n.end, "%")) return Quantity{n.value + "%", n.end + 1, false, false, "%"};
  if (starts(s, n.end, "°c") || starts(s, n.end, "°f")) {
    const std::string_view unit = starts(s, n.end, "°c") ? "°c" : "°f";
    return Quantity{n.value + std::string(unit), n.end + 3, false, false, unit};
  }
  const size_t from = starts(s, n.end, " ") || starts(s, n.end, "-") ? n.end + 1 : n.end;
  const size_t end = letters_end(s, from);
  const std::string_view word = s.substr(from, end - from);
  const bool joined = end < s.size() && is_digit(s[end]);
  const auto unit = english_units().find(word);
  if (unit != english_units().end() && !joined) {
    return Quantity{n.value + std::string(unit->second), end, false, is_duration(unit->second), unit->second};
  }
  return std::nullopt;
}

// 3g2, 12ab: digits that letters follow without being a unit are a name. 3rd is 3.
std::optional<Quantity> read_name(std::string_view s, size_t at, const Numeral& n) {
  const size_t letters = letters_end(s, n.end);
  if (letters == n.end || !is_digit(s[at])) return std::nullopt;
  const std::string_view suffix = s.substr(n.end, letters - n.end);
  if (suffix == "st" || suffix == "nd" || suffix == "rd" || suffix == "th") return Quantity{n.value, letters};
  size_t end = letters;
  while (end < s.size() && (is_letter(s[end]) || is_digit(s[end]))) ++end;
  return Quantity{std::string(s.substr(at, end - at)), end};
}

std::optional<Quantity> read_unsigned(std::string_view s, size_t at, DayPart part) {
  auto n = read_number(s, at);
  if (!n) return std::nullopt;
  if (auto time = read_clock(s, *n, part)) return time;
  if (auto time = read_chinese_clock(s, *n, part)) return time;
  extend_decimal(s, *n);
  if (auto date = read_date_part(s, *n)) return date;
  if (auto q = with_chinese_unit(s, *n)) return q;
  if (auto q = with_english_unit(s, *n)) return q;
  if (auto name = read_name(s, at, *n)) return name;
  return Quantity{n->indefinite ? "" : n->value, n->end, false, false, {}, !n->indefinite};
}

std::optional<Quantity> prefixed(std::string_view s, size_t number, std::string_view unit) {
  const auto n = read_number(s, number);
  if (!n) return std::nullopt;
  return Quantity{n->value + std::string(unit), n->end, false, false, unit};
}

std::optional<Quantity> read_half(std::string_view s, size_t at, size_t prefix) {
  const Numeral half{"0.5", at + prefix};
  if (auto q = with_chinese_unit(s, half)) return q;
  return with_english_unit(s, half);
}

bool begins_number(std::string_view s, size_t at) { return at < s.size() && is_digit(s[at]); }

}  // namespace

std::optional<Quantity> read_quantity(std::string_view s, size_t at, DayPart part) {
  if (at >= s.size()) return std::nullopt;
  const bool opens = at == 0 || s[at - 1] == ' ' || static_cast<uint8_t>(s[at - 1]) >= 0x80;
  if (starts(s, at, "-") && begins_number(s, at + 1) && opens) {
    auto q = read_unsigned(s, at + 1, part);
    if (q && !q->canonical.empty()) q->canonical.insert(0, "-");
    return q;
  }
  if (starts(s, at, "零下")) {
    auto q = read_unsigned(s, at + 6, part);
    if (q && !q->canonical.empty()) q->canonical.insert(0, "-");
    return q;
  }
  if (starts(s, at, "百分之")) return prefixed(s, at + 9, "%");
  for (const Unit& currency : {Unit{"$", "usd"}, Unit{"¥", "cny"}, Unit{"€", "eur"}, Unit{"£", "gbp"}}) {
    const size_t size = currency.word.size();
    if (starts(s, at, currency.word) && begins_number(s, at + size)) return prefixed(s, at + size, currency.name);
  }
  if (starts(s, at, "半")) return read_half(s, at, 3);
  if (starts(s, at, "half an ")) return read_half(s, at, 7);
  if (starts(s, at, "half a ")) return read_half(s, at, 6);
  return read_unsigned(s, at, part);
}

}  // namespace hengshi::text
