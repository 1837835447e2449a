#include "api/canonical.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "base/log.h"

namespace hengshi::api::json {

namespace {

void append_text(std::string& out, std::string_view text, bool escaped) {
  if (escaped) return append_json_string(out, text);
  out += '"';  // Its bytes had no backslash: nothing in them needs one.
  out += text;
  out += '"';
}

// Exponents beyond this are one: no value they give can be told apart.
constexpr int64_t kMaxExponent = int64_t{1} << 60;

int64_t exponent_of(std::string_view token) {
  if (token.starts_with('+')) token.remove_prefix(1);
  int64_t exponent = 0;
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), exponent);
  if (error != std::errc()) return token.starts_with('-') ? -kMaxExponent : kMaxExponent;
  return std::clamp(exponent, -kMaxExponent, kMaxExponent);
}

}  // namespace

void append_canonical_number(std::string& out, std::string_view token) {
  if (token == "0") {
    out += '0';
    return;
  }
  if (token.back() != '0' && token.find_first_not_of("0123456789") == std::string_view::npos) {
    out += token;  // A plain integer is what the rest would make of it.
    return;
  }
  const size_t start = out.size();
  if (token.starts_with('-')) {
    out += '-';
    token.remove_prefix(1);
  }
  const size_t digits = out.size();
  const size_t e = std::min(token.find_first_of("eE"), token.size());
  int64_t exponent = e == token.size() ? 0 : exponent_of(token.substr(e + 1));
  const std::string_view mantissa = token.substr(0, e);
  const size_t point = std::min(mantissa.find('.'), mantissa.size());
  out += mantissa.substr(0, point);
  if (point < mantissa.size()) {
    out += mantissa.substr(point + 1);
    exponent -= static_cast<int64_t>(mantissa.size() - point - 1);
  }
  out.erase(digits, std::min(out.find_first_not_of('0', digits), out.size()) - digits);
  if (out.size() == digits) {
    out.resize(start);
    out += '0';
    return;
  }
  const size_t last = out.find_last_not_of('0') + 1;
  exponent += static_cast<int64_t>(out.size() - last);
  out.resize(last);
  if (exponent == 0) return;
  out += 'e';
  append_integer(out, exponent);
}

void Canonical::value(std::string& out, Value value) {
  if (!hidden_.empty() && hidden_.front() <= value.index() && std::ranges::binary_search(hidden_, value.index())) {
    out += '?';
    return;
  }
  switch (value.kind()) {
    case Kind::kNull: out += "null"; return;
    case Kind::kTrue: out += "true"; return;
    case Kind::kFalse: out += "false"; return;
    case Kind::kNumber: return append_canonical_number(out, value.text());
    case Kind::kString: return append_text(out, value.text(), value.escaped());
    case Kind::kObject: return object(out, value);
    case Kind::kArray: break;
  }
  out += '[';
  bool first = true;
  for (const Value element : value) {
    if (!first) out += ',';
    first = false;
    this->value(out, element);
  }
  out += ']';
}

void Canonical::push(Value member) {
  const std::string_view key = member.key();
  uint64_t prefix = 0;
  std::memcpy(&prefix, key.data(), std::min(key.size(), sizeof prefix));
  order_.push_back({__builtin_bswap64(prefix), member.index()});
}

void Canonical::object(std::string& out, Value value) {
  const size_t base = order_.size();
  for (const Value member : value) push(member);
  sorted_members(out, value.document(), base);
}

void Canonical::members(std::string& out, const Document& document, std::span<const uint32_t> indices) {
  const size_t base = order_.size();
  for (const uint32_t index : indices) push(document.at(index));
  sorted_members(out, document, base);
}

void Canonical::sorted_members(std::string& out, const Document& document, size_t base) {
  const auto before = [&document](const Member& a, const Member& b) {
    if (a.prefix != b.prefix) return a.prefix < b.prefix;
    const int order = document.at(a.index).key().compare(document.at(b.index).key());
    return order != 0 ? order < 0 : a.index < b.index;
  };
  std::sort(order_.begin() + static_cast<ptrdiff_t>(base), order_.end(), before);
  out += '{';
  bool first = true;
  for (size_t i = base, end = order_.size(); i < end; ++i) {
    const Value member = document.at(order_[i].index);
    if (!first) out += ',';
    first = false;
    append_text(out, member.key(), member.key_escaped());
    out += ':';
    value(out, member);
  }
  out += '}';
  order_.resize(base);
}

}  // namespace hengshi::api::json
