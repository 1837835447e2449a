#include <algorithm>
#include <array>

#include "text/quantity.h"
#include "text/utf8.h"
#include "text/value_readers.h"

namespace hengshi::text {

namespace {

constexpr size_t kDigitsOfId = 5, kDigitsBehindCue = 3, kLongestPhone = 15;

// What an id follows; longer cues before their beginnings.
constexpr std::array<std::string_view, 35> kCues = {
    "订单编号",
    "订单号",
    "订单",
    "快递单号",
    "运单号",
    "单号",
    "编号",
    "序列号",
    "设备号",
    "工单号",
    "流水号",
    "账号",
    "卡号",
    "型号",
    "代码",
    "order number",
    "order no.",
    "order id",
    "order",
    "tracking number",
    "tracking id",
    "serial number",
    "serial no.",
    "device id",
    "ticket number",
    "ticket id",
    "ticket",
    "invoice number",
    "invoice",
    "account number",
    "reference number",
    "reference",
    "sn",
    "id",
    "#",
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_word_byte(char c) { return is_digit(c) || is_letter(c); }
bool starts_word(std::string_view s, size_t at) { return at == 0 || !is_word_byte(s[at - 1]); }

size_t count_digits(std::string_view s) { return static_cast<size_t>(std::count_if(s.begin(), s.end(), is_digit)); }

// Letters and digits, with single - _ / between them.
size_t code_end(std::string_view s, size_t at) {
  size_t end = at;
  while (end < s.size()) {
    const bool joint = (s[end] == '-' || s[end] == '_' || s[end] == '/') && end > at && is_word_byte(s[end - 1]) &&
                       end + 1 < s.size() && is_word_byte(s[end + 1]);
    if (!is_word_byte(s[end]) && !joint) break;
    ++end;
  }
  return end;
}

// Behind "单号", "order number:" and "sn " the code itself begins here.
bool follows_cue(std::string_view s, size_t at) {
  size_t end = at;
  while (end > 0 && (s[end - 1] == ' ' || s[end - 1] == ':' || s[end - 1] == '#' || s[end - 1] == '.')) --end;
  std::string_view before = s.substr(0, end);
  for (const std::string_view tail : {" is", " number", "是", "为"}) {
    if (before.ends_with(tail)) before.remove_suffix(tail.size());
  }
  if (at > 0 && s[at - 1] == '#') return true;
  return std::any_of(kCues.begin(), kCues.end(), [&](std::string_view cue) {
    if (!before.ends_with(cue)) return false;
    return !is_letter(cue[0]) || starts_word(before, before.size() - cue.size());
  });
}

struct Digits {
  size_t end = 0, count = 0;
  std::array<char, kLongestPhone> first{};
};

// A run of digits in which single spaces, dashes, dots and brackets may stand.
Digits read_run(std::string_view s, size_t at) {
  Digits out;
  size_t between = 0;
  for (size_t i = at; i < s.size(); ++i) {
    if (is_digit(s[i])) {
      if (out.count < kLongestPhone) out.first[out.count] = s[i];
      ++out.count;
      out.end = i + 1;
      between = 0;
    } else if (++between > 2 || (s[i] != ' ' && s[i] != '-' && s[i] != '(' && s[i] != ')' && s[i] != '.')) {
      break;
    }
  }
  return out;
}

bool is_phone(std::string_view digits, bool plus, bool written_apart) {
  if (plus) return digits.size() >= 8 && digits.size() <= kLongestPhone;
  if (digits.starts_with("86") && digits.size() == 13) digits.remove_prefix(2);
  if (digits.size() == 11 && digits[0] == '1') {  // a Chinese mobile, or 1-800-…
    return (digits[1] >= '3' && digits[1] <= '9') || written_apart;
  }
  if (digits[0] == '0') return digits.size() >= 10 && digits.size() <= 12;
  if (digits.starts_with("400") || digits.starts_with("800")) return digits.size() == 10;
  return written_apart && (digits.size() == 10 || digits.size() == 8 || digits.size() == 7);
}

// 2024-06-18 and 2024.6.18 are days.
bool is_day(std::string_view s, size_t at) {
  return at + 4 < s.size() && count_digits(s.substr(at, 4)) == 4 &&
         (s.substr(at).starts_with("19") || s.substr(at).starts_with("20")) &&
         (s[at + 4] == '-' || s[at + 4] == '.' || s[at + 4] == '/') && read_date(s, at) > 0;
}

bool is_mail_byte(char c) { return is_word_byte(c) || c == '.' || c == '_' || c == '-' || c == '+' || c == '%'; }

}  // namespace

size_t step_over(std::string_view s, size_t at) {
  if (!is_word_byte(s[at])) return at + decode(s, at).bytes;
  while (at < s.size() && is_word_byte(s[at])) ++at;
  return at;
}

size_t read_phone(std::string_view s, size_t at) {
  const bool plus = s[at] == '+', bracket = s[at] == '(';
  const size_t from = at + (plus || bracket ? 1 : 0);
  if (from >= s.size() || !is_digit(s[from]) || !starts_word(s, at) || is_day(s, at)) return 0;
  if (at > 0 && (s[at - 1] == '-' || s[at - 1] == '+' || s[at - 1] == '(')) return 0;
  const Digits run = read_run(s, from);
  if (run.count > kLongestPhone || run.count < 7) return 0;
  if (run.end < s.size() && is_letter(s[run.end])) return 0;
  const bool written_apart = run.end - from > run.count;
  return is_phone({run.first.data(), run.count}, plus, written_apart) ? run.end : 0;
}

size_t read_email(std::string_view s, size_t at) {
  if (!is_word_byte(s[at]) || (at > 0 && is_mail_byte(s[at - 1]))) return 0;
  size_t name = at;
  while (name < s.size() && is_mail_byte(s[name])) ++name;
  if (name >= s.size() || s[name] != '@') return 0;
  size_t end = name + 1;
  while (end < s.size() && (is_word_byte(s[end]) || s[end] == '.' || s[end] == '-')) ++end;
  while (end > name && !is_word_byte(s[end - 1])) --end;
  const size_t dot = s.substr(0, end).rfind('.');
  return dot != std::string_view::npos && dot > name + 1 && end - dot > 2 ? end : 0;
}

size_t read_id(std::string_view s, size_t at) {
  if (!is_word_byte(s[at]) || !starts_word(s, at)) return 0;
  const size_t end = code_end(s, at);
  const std::string_view code = s.substr(at, end - at);
  const size_t digits = count_digits(code);
  if (follows_cue(s, at)) return digits >= kDigitsBehindCue ? end : 0;
  if (digits < kDigitsOfId || is_day(s, at)) return 0;
  if (end < s.size() && s[end] == '@') return 0;
  const bool plain = digits == code.size();
  if (plain && (read_phone(s, at) > 0 || (end < s.size() && (s[end] == '.' || s[end] == '%')))) return 0;
  const auto quantity = read_quantity(s, at, DayPart::kNone);
  return quantity && !quantity->unit.empty() ? 0 : end;
}

}  // namespace hengshi::text
