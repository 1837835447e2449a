#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "text/numeral.h"
#include "text/utf8.h"
#include "text/value_readers.h"

namespace hengshi::text {

namespace {

// Longer words before their beginnings.
constexpr std::array<std::string_view, 40> kDays = {"大前天",
                                                    "大后天",
                                                    "前天",
                                                    "后天",
                                                    "昨天",
                                                    "今天",
                                                    "明天",
                                                    "昨日",
                                                    "今日",
                                                    "明日",
                                                    "今晚",
                                                    "明晚",
                                                    "昨晚",
                                                    "今早",
                                                    "明早",
                                                    "月底",
                                                    "月初",
                                                    "年底",
                                                    "年初",
                                                    "周末",
                                                    "春节",
                                                    "元旦",
                                                    "除夕",
                                                    "清明",
                                                    "端午",
                                                    "中秋",
                                                    "国庆",
                                                    "五一",
                                                    "双十一",
                                                    "圣诞节",
                                                    "圣诞",
                                                    "the day after tomorrow",
                                                    "day after tomorrow",
                                                    "the day before yesterday",
                                                    "day before yesterday",
                                                    "tomorrow",
                                                    "yesterday",
                                                    "tonight",
                                                    "today",
                                                    "christmas"};
constexpr std::array<std::string_view, 9> kChinesePrefixes = {"上上", "下下", "这", "本", "上", "下", "每", "当", "那"};
constexpr std::array<std::string_view, 3> kWeeks = {"星期", "礼拜", "周"};
constexpr std::array<std::string_view, 5> kYears = {"今年", "去年", "明年", "前年", "后年"};
constexpr std::array<std::string_view, 6> kEnglishPrefixes = {"this coming ", "this ",   "next ",
                                                              "last ",        "coming ", "past "};
constexpr std::array<std::string_view, 14> kWeekdays = {"monday",   "tuesday", "wednesday", "thursday", "friday",
                                                        "saturday", "sunday",  "thurs",     "tues",     "mon",
                                                        "tue",      "wed",     "thu",       "fri"};
constexpr std::array<std::string_view, 7> kSpans = {"weekend", "week", "month", "year", "quarter", "spring", "summer"};
constexpr std::array<std::string_view, 12> kMonths = {"january",   "february", "march",    "april",
                                                      "may",       "june",     "july",     "august",
                                                      "september", "october",  "november", "december"};
constexpr std::array<std::string_view, 12> kShortMonths = {"jan", "feb", "mar",  "apr", "jun", "jul",
                                                           "aug", "sep", "sept", "oct", "nov", "dec"};
constexpr std::array<std::string_view, 8> kOffsets = {"个星期", "个礼拜", "个月", "天", "周", "星期", "年", "日"};
constexpr std::array<std::string_view, 8> kDurations = {"days",   "day",   "weeks", "week",
                                                        "months", "month", "years", "year"};
// 五号线 and 三号楼 are no days.
constexpr std::array<std::string_view, 14> kNumbered = {"线", "楼", "店", "机", "门", "码", "元",
                                                        "院", "馆", "厅", "位", "柜", "桌", "本"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_byte(char c) { return (c >= 'a' && c <= 'z') || is_digit(c); }
bool starts(std::string_view s, size_t at, std::string_view with) {
  return at <= s.size() && s.substr(at).starts_with(with);
}
bool ends_word(std::string_view s, size_t end) { return end >= s.size() || !is_word_byte(s[end]); }

// Length of the first of the words that stands at `at`, whole where it is of Latin letters; 0 for none.
template <size_t N>
size_t any_of(const std::array<std::string_view, N>& words, std::string_view s, size_t at) {
  for (const std::string_view word : words) {
    const bool latin = static_cast<uint8_t>(word[0]) < 0x80;
    if (starts(s, at, word) && (!latin || word.back() == ' ' || ends_word(s, at + word.size()))) return word.size();
  }
  return 0;
}

struct Small {
  int value = 0;
  size_t end = 0;
};

// A whole number of up to four digits, or in Chinese.
std::optional<Small> read_small(std::string_view s, size_t at) {
  if (at >= s.size()) return std::nullopt;
  if (is_digit(s[at])) {
    size_t end = at;
    while (end < s.size() && is_digit(s[end])) ++end;
    Small out{0, end};
    if (end - at > 4) return std::nullopt;
    std::from_chars(s.data() + at, s.data() + end, out.value);
    return out;
  }
  if (static_cast<uint8_t>(s[at]) < 0x80) return std::nullopt;
  const auto n = read_chinese_numeral(s, at);
  Small out{0, n ? n->end : 0};
  const bool whole = n && std::from_chars(n->value.data(), n->value.data() + n->value.size(), out.value).ptr ==
                              n->value.data() + n->value.size();
  return whole ? std::optional(out) : std::nullopt;
}

bool in(int value, int low, int high) { return value >= low && value <= high; }

// 18号, 18日.
size_t read_day(std::string_view s, size_t at) {
  const auto day = read_small(s, at);
  if (!day || !in(day->value, 1, 31)) return 0;
  if (!starts(s, day->end, "号") && !starts(s, day->end, "日")) return 0;
  const size_t end = day->end + 3;
  return any_of(kNumbered, s, end) > 0 ? 0 : end;
}

// 6月, 6月18号, 6月底.
size_t read_month(std::string_view s, size_t at) {
  const auto month = read_small(s, at);
  if (!month || !in(month->value, 1, 12) || !starts(s, month->end, "月")) return 0;
  const size_t end = month->end + 3;
  for (const std::string_view part : {"底", "初", "中旬", "上旬", "下旬"}) {
    if (starts(s, end, part)) return end + part.size();
  }
  const size_t day = read_day(s, end);
  if (day > 0) return day;
  const auto bare = read_small(s, end);  // 6月18
  return bare && in(bare->value, 1, 31) && ends_word(s, bare->end) ? bare->end : end;
}

size_t read_year(std::string_view s, size_t at) {
  const auto year = read_small(s, at);
  if (!year || !in(year->value, 1900, 2199) || !starts(s, year->end, "年")) return 0;
  const size_t end = year->end + 3, month = read_month(s, end);
  return month > 0 ? month : end;
}

// 2024-06-18, 2024/6/18, 6/18, 6/18/2024.
size_t read_numeric(std::string_view s, size_t at) {
  const auto first = read_small(s, at);
  if (!first || !is_digit(s[at]) || first->end >= s.size()) return 0;
  const char joint = s[first->end];
  if (joint != '-' && joint != '/' && joint != '.') return 0;
  const auto second = read_small(s, first->end + 1);
  if (!second || !is_digit(s[first->end + 1])) return 0;
  Small third;  // its end stays 0 without one
  if (second->end + 1 < s.size() && s[second->end] == joint && is_digit(s[second->end + 1])) {
    third = read_small(s, second->end + 1).value_or(Small{});
  }
  if (in(first->value, 1900, 2199)) {
    const bool day = in(second->value, 1, 12) && in(third.value, 1, 31) && ends_word(s, third.end);
    return day ? third.end : 0;
  }
  if (!in(first->value, 1, 31) || !in(second->value, 1, 31) || std::min(first->value, second->value) > 12) return 0;
  if (third.end > 0) return third.end - second->end > 2 && ends_word(s, third.end) ? third.end : 0;
  return joint == '/' && ends_word(s, second->end) ? second->end : 0;
}

// 这周五, 下个月18号, 上周, 周五, 下周末.
size_t read_chinese_week(std::string_view s, size_t at) {
  const size_t prefix = any_of(kChinesePrefixes, s, at);
  size_t unit = at + prefix;
  if (prefix > 0 && starts(s, unit, "个")) unit += 3;
  if (prefix > 0 && starts(s, unit, "月")) {
    const size_t day = read_day(s, unit + 3);
    const bool part = starts(s, unit + 3, "底") || starts(s, unit + 3, "初");
    return day > 0 ? day : unit + (part ? 6 : 3);
  }
  const size_t week = any_of(kWeeks, s, unit);
  if (week == 0) return 0;
  const size_t end = unit + week;
  for (const std::string_view day :
       {"一", "二", "三", "四", "五", "六", "日", "天", "末", "1", "2", "3", "4", "5", "6", "7"}) {
    if (starts(s, end, day) && (day.size() > 1 || ends_word(s, end + 1))) return end + day.size();
  }
  return prefix > 0 ? end : 0;
}

// 三天后, 2周前, 半个月后, 7天内.
size_t read_chinese_offset(std::string_view s, size_t at) {
  size_t end = 0;
  if (starts(s, at, "半")) {
    end = at + 3;
  } else if (const auto n = read_small(s, at)) {
    end = n->end;
  }
  if (end == 0) return 0;
  const size_t unit = any_of(kOffsets, s, end);
  if (unit == 0) return 0;
  end += unit;
  if (starts(s, end, "之") || starts(s, end, "以")) end += 3;
  for (const std::string_view word : {"前", "后", "内"}) {
    if (starts(s, end, word)) return end + word.size();
  }
  return 0;
}

// 3, 18th, "18th of".
size_t read_ordinal(std::string_view s, size_t at, bool suffix_needed) {
  const auto day = read_small(s, at);
  if (!day || !is_digit(s[at]) || !in(day->value, 1, 31)) return 0;
  for (const std::string_view suffix : {"st", "nd", "rd", "th"}) {
    if (starts(s, day->end, suffix) && ends_word(s, day->end + 2)) return day->end + 2;
  }
  return suffix_needed || !ends_word(s, day->end) ? 0 : day->end;
}

size_t read_year_behind(std::string_view s, size_t end) {
  const size_t from = end + (starts(s, end, ", ") ? 2 : starts(s, end, " ") ? 1 : 0);
  const auto year = from > end ? read_small(s, from) : std::nullopt;
  return year && in(year->value, 1900, 2199) && ends_word(s, year->end) ? year->end : end;
}

// June, June 18th, Jun 18, 2024; a short or ambiguous name needs its day.
size_t read_english_month(std::string_view s, size_t at) {
  const size_t full = any_of(kMonths, s, at), size = full > 0 ? full : any_of(kShortMonths, s, at);
  if (size == 0) return 0;
  size_t end = at + size;
  if (starts(s, end, ".")) ++end;
  const size_t day_at = end + (starts(s, end, " the ") ? 5 : starts(s, end, " ") ? 1 : 0);
  const size_t day = day_at > end ? read_ordinal(s, day_at, false) : 0;
  if (day > 0) return read_year_behind(s, day);
  const std::string_view name = s.substr(at, size);
  const bool ambiguous = full == 0 || name == "may" || name == "march";
  return ambiguous ? 0 : read_year_behind(s, at + size);
}

// 18 June 2024, the 18th of June; "on the 18th".
size_t read_english_day(std::string_view s, size_t at) {
  const bool article = starts(s, at, "the ");
  const size_t day = read_ordinal(s, at + (article ? 4 : 0), article);
  if (day == 0) return 0;
  const size_t month_at = day + (starts(s, day, " of ") ? 4 : starts(s, day, " ") ? 1 : 0);
  const size_t full = month_at > day ? any_of(kMonths, s, month_at) : 0;
  const size_t name = full > 0 || month_at == day ? full : any_of(kShortMonths, s, month_at);
  if (name > 0) return read_year_behind(s, month_at + name);
  if (!article) return 0;
  for (const std::string_view before : {"on ", "by ", "until ", "till ", "before ", "after ", "since ", "from "}) {
    if (s.substr(0, at).ends_with(before)) return day;
  }
  return 0;
}

size_t read_english_week(std::string_view s, size_t at) {
  const size_t prefix = any_of(kEnglishPrefixes, s, at);
  const size_t weekday = any_of(kWeekdays, s, at + prefix);
  if (weekday > 0) return at + prefix + weekday;
  const size_t span = prefix > 0 ? any_of(kSpans, s, at + prefix) : 0;
  if (span > 0) return at + prefix + span;
  return prefix > 0 && any_of(kMonths, s, at + prefix) > 0 ? at + prefix + any_of(kMonths, s, at + prefix) : 0;
}

// "3 days ago", "two weeks from now", "in 3 days".
size_t read_english_offset(std::string_view s, size_t at) {
  const bool ahead = starts(s, at, "in ") || starts(s, at, "within ");
  const size_t from = ahead ? s.find(' ', at) + 1 : at;
  if (from >= s.size()) return 0;
  size_t end = 0;
  if (starts(s, from, "a ") || starts(s, from, "an ")) {
    end = s.find(' ', from);
  } else if (const auto n = is_digit(s[from]) ? read_digits(s, from) : read_english_numeral(s, from)) {
    end = n->end;
  }
  if (end == 0 || !starts(s, end, " ")) return 0;
  const size_t unit = any_of(kDurations, s, end + 1);
  if (unit == 0) return 0;
  end += 1 + unit;
  if (ahead) return end;
  for (const std::string_view word : {" ago", " from now", " later"}) {
    if (starts(s, end, word) && ends_word(s, end + word.size())) return end + word.size();
  }
  return 0;
}

size_t read_relative(std::string_view s, size_t at) {
  if (const size_t day = any_of(kDays, s, at); day > 0) return at + day;
  const size_t year = any_of(kYears, s, at);
  if (year == 0) return 0;
  const size_t month = read_month(s, at + year);
  return month > 0 ? month : at + year;
}

}  // namespace

size_t read_date(std::string_view s, size_t at) {
  if (is_word_byte(s[at]) && at > 0 && is_word_byte(s[at - 1])) return 0;
  size_t longest = 0;
  for (const auto read :
       {read_relative, read_year, read_month, read_day, read_numeric, read_chinese_week, read_chinese_offset,
        read_english_month, read_english_day, read_english_week, read_english_offset}) {
    longest = std::max(longest, read(s, at));
  }
  return longest;
}

}  // namespace hengshi::text
