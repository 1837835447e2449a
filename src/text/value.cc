#include "text/value.h"

#include <array>
#include <utility>

#include "text/folded.h"
#include "text/lexicon.h"
#include "text/quantity.h"
#include "text/utf8.h"
#include "text/value_readers.h"

namespace hengshi::text {

namespace {

constexpr std::array<std::pair<std::string_view, ValueKind>, 8> kNames = {{
    {"number", ValueKind::kNumber},
    {"date", ValueKind::kDate},
    {"time", ValueKind::kTime},
    {"amount", ValueKind::kAmount},
    {"percent", ValueKind::kPercent},
    {"phone", ValueKind::kPhone},
    {"email", ValueKind::kEmail},
    {"id", ValueKind::kId},
}};

bool is_han_at(std::string_view s, size_t at) { return is_han(decode(s, at).value); }

bool starts(std::string_view s, size_t at, std::string_view with) {
  return at <= s.size() && s.substr(at).starts_with(with);
}

// 一下, 三星, 百度 hold a numeral and are none: read past as a whole.
size_t past_word(std::string_view s, size_t at) {
  if (!is_han_at(s, at)) return step_over(s, at);
  const auto word = chinese_word(s, at);
  return at + (word && word->effects.empty() ? word->text.size() : decode(s, at).bytes);
}

bool is_plain_word(std::string_view s, size_t at) {
  if (!is_han_at(s, at)) return false;
  const auto word = chinese_word(s, at);
  return word && word->effects.empty();
}

std::optional<Quantity> quantity_at(std::string_view s, size_t at) {
  if (is_plain_word(s, at)) return std::nullopt;
  auto q = read_quantity(s, at, DayPart::kNone);
  if (!q || q->end <= at || q->canonical.empty()) return std::nullopt;
  return q;
}

// Skips what is a value of another kind, so that "June 18, three lamps" counts three.
size_t past_others(std::string_view s, size_t at) {
  for (const auto read : {read_date, read_time, read_phone, read_email}) {
    if (const size_t end = read(s, at); end > 0) return end;
  }
  return 0;
}

std::optional<std::string> find_number(const Folded& folded) {
  const std::string_view s = folded.text;
  for (size_t at = 0; at < s.size();) {
    if (const size_t end = past_others(s, at); end > 0) {
      at = end;
      continue;
    }
    const auto q = quantity_at(s, at);
    if (q && q->unit != "%" && (q->plain || !q->unit.empty())) {
      return q->canonical.substr(0, q->canonical.size() - q->unit.size());
    }
    at = q ? q->end : past_word(s, at);
  }
  return std::nullopt;
}

std::optional<std::string> find_percent(const Folded& folded) {
  const std::string_view s = folded.text;
  for (size_t at = 0; at < s.size();) {
    const auto q = quantity_at(s, at);
    if (q && q->unit == "%") return q->canonical;
    if (q && q->plain && (starts(s, q->end, " per cent") || starts(s, q->end, " pct"))) return q->canonical + '%';
    at = q ? q->end : past_word(s, at);
  }
  return std::nullopt;
}

bool is_money(std::string_view unit) {
  for (const std::string_view name : {"cny", "usd", "eur", "gbp", "hkd", "jpy", "cent", "角"}) {
    if (unit == name) return true;
  }
  return false;
}

// 三块五, 3块5毛: what follows the yuan belongs to it.
size_t small_change(std::string_view s, size_t end) {
  const auto more = end < s.size() ? read_quantity(s, end, DayPart::kNone) : std::nullopt;
  if (!more || !(more->unit == "角" || (more->plain && more->canonical.size() == 1))) return end;
  return more->end;
}

// "rmb 300", "us$20".
size_t behind_currency(std::string_view s, size_t at) {
  for (const std::string_view name : {"rmb", "cny", "usd", "us$", "hk$", "eur", "gbp"}) {
    if (!starts(s, at, name)) continue;
    const size_t from = at + name.size() + (starts(s, at + name.size(), " ") ? 1 : 0);
    const auto q = from < s.size() ? read_quantity(s, from, DayPart::kNone) : std::nullopt;
    return q && q->plain ? q->end : 0;
  }
  return 0;
}

// Money first; else a number with its unit, which a stretch of time is not.
std::optional<std::string> find_amount(const Folded& folded, bool money) {
  const std::string_view s = folded.text;
  for (size_t at = 0; at < s.size();) {
    if (const size_t end = money ? behind_currency(s, at) : 0; end > 0) return std::string(folded.written(at, end));
    const auto q = quantity_at(s, at);
    const bool wanted = q && (money ? is_money(q->unit) : !q->unit.empty() && !q->duration && q->unit != "%");
    if (wanted) return std::string(folded.written(at, q->unit == "cny" ? small_change(s, q->end) : q->end));
    at = q ? q->end : past_word(s, at);
  }
  return std::nullopt;
}

std::optional<std::string> find_written(const Folded& folded, size_t (*read)(std::string_view, size_t)) {
  const std::string_view s = folded.text;
  for (size_t at = 0; at < s.size(); at = step_over(s, at)) {
    if (const size_t end = read(s, at); end > 0) return std::string(folded.written(at, end));
  }
  return std::nullopt;
}

}  // namespace

std::optional<ValueKind> value_kind(std::string_view name) {
  for (const auto& [known, kind] : kNames) {
    if (known == name) return kind;
  }
  return std::nullopt;
}

std::string_view value_kind_name(ValueKind kind) {
  for (const auto& [name, known] : kNames) {
    if (known == kind) return name;
  }
  return {};
}

std::optional<std::string> find_value(ValueKind kind, std::string_view question) {
  const Folded folded = fold(question);
  switch (kind) {
    case ValueKind::kNumber: return find_number(folded);
    case ValueKind::kPercent: return find_percent(folded);
    case ValueKind::kAmount:
      if (auto money = find_amount(folded, true)) return money;
      return find_amount(folded, false);
    case ValueKind::kDate: return find_written(folded, read_date);
    case ValueKind::kTime: return find_written(folded, read_time);
    case ValueKind::kPhone: return find_written(folded, read_phone);
    case ValueKind::kEmail: return find_written(folded, read_email);
    case ValueKind::kId: return find_written(folded, read_id);
  }
  return std::nullopt;
}

}  // namespace hengshi::text
