#include <array>

#include "text/numeral.h"
#include "text/quantity.h"
#include "text/utf8.h"
#include "text/value_readers.h"

namespace hengshi::text {

namespace {

struct Part {
  std::string_view word;
  DayPart part;
};

constexpr std::array kParts = {
    Part{"上午", DayPart::kMorning},   Part{"早上", DayPart::kMorning},   Part{"早晨", DayPart::kMorning},
    Part{"清晨", DayPart::kMorning},   Part{"凌晨", DayPart::kMorning},   Part{"中午", DayPart::kAfternoon},
    Part{"下午", DayPart::kAfternoon}, Part{"傍晚", DayPart::kAfternoon}, Part{"晚上", DayPart::kAfternoon},
    Part{"今晚", DayPart::kAfternoon}, Part{"明晚", DayPart::kAfternoon}, Part{"夜里", DayPart::kAfternoon},
    Part{"明早", DayPart::kMorning},   Part{"今早", DayPart::kMorning},
};
constexpr std::array<std::string_view, 5> kMoments = {"正午", "午夜", "半夜", "noon", "midnight"};
constexpr std::array<std::string_view, 4> kEnglishParts = {" in the morning", " in the afternoon", " in the evening",
                                                           " at night"};
constexpr std::array<std::string_view, 4> kPast = {"half past ", "quarter past ", "quarter to ", "a quarter to "};
// 三点建议 counts points.
constexpr std::array<std::string_view, 8> kPoints = {"建议", "意见", "疑问", "要求", "原因", "理由", "说明", "不"};

bool starts(std::string_view s, size_t at, std::string_view with) {
  return at <= s.size() && s.substr(at).starts_with(with);
}

bool is_word_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

bool whole_word(std::string_view s, size_t at, std::string_view word) {
  if (static_cast<uint8_t>(word[0]) >= 0x80) return true;
  const size_t end = at + word.size();
  return (at == 0 || !is_word_byte(s[at - 1])) && (end >= s.size() || !is_word_byte(s[end]));
}

size_t read_clock(std::string_view s, size_t at, DayPart part) {
  if (at >= s.size()) return 0;
  const auto q = read_quantity(s, at, part);
  if (!q || !q->time_of_day) return 0;
  for (const std::string_view thing : kPoints) {
    if (starts(s, q->end, thing)) return 0;
  }
  for (const std::string_view behind : kEnglishParts) {
    if (starts(s, q->end, behind)) return q->end + behind.size();
  }
  return q->end;
}

size_t read_past(std::string_view s, size_t at) {
  for (const std::string_view words : kPast) {
    if (!starts(s, at, words)) continue;
    const size_t from = at + words.size();
    const auto hour =
        from < s.size() ? (s[from] <= '9' ? read_digits(s, from) : read_english_numeral(s, from)) : std::nullopt;
    if (hour) return hour->end;
  }
  return 0;
}

}  // namespace

size_t read_time(std::string_view s, size_t at) {
  if (is_word_byte(s[at]) && at > 0 && is_word_byte(s[at - 1])) return 0;
  for (const Part& part : kParts) {
    if (!starts(s, at, part.word)) continue;
    const size_t behind = at + part.word.size();
    const size_t end = read_clock(s, behind, part.part);
    return end > 0 ? end : behind;
  }
  for (const std::string_view word : kMoments) {
    if (starts(s, at, word) && whole_word(s, at, word)) return at + word.size();
  }
  if (const size_t end = read_past(s, at); end > 0) return end;
  return read_clock(s, at, DayPart::kNone);
}

}  // namespace hengshi::text
