#include "text/slots.h"

#include <algorithm>

#include "text/text.h"

namespace hengshi::text {

namespace {

bool is_name(std::string_view s) {
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto rest = [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; };
  return !s.empty() && letter(s[0]) && std::all_of(s.begin(), s.end(), rest);
}

void add_once(std::vector<std::string>& names, const std::string& name) {
  if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
}

tl::unexpected<Error> fail_at(std::string_view source, size_t at, std::string_view why) {
  const size_t column = count_characters(source.substr(0, at)) + 1;
  return fail(ErrorCode::kInvalidRequest, "column " + std::to_string(column) + ": " + std::string(why));
}

}  // namespace

Result<Template> Template::parse(std::string_view source) {
  Template result;
  std::string literal;
  for (size_t at = 0; at < source.size();) {
    const char c = source[at];
    if (c != '{' && c != '}') {
      literal += c;
      ++at;
      continue;
    }
    if (source.substr(at + 1, 1) == source.substr(at, 1)) {
      literal += c;
      at += 2;
      continue;
    }
    if (c == '}') return fail_at(source, at, "'}' closes nothing; write '}}' for a brace");
    const size_t end = source.find_first_of("{}", at + 1);
    if (end == std::string_view::npos || source[end] == '{') {
      return fail_at(source, at, "'{' is not closed; write '{{' for a brace");
    }
    const std::string_view inside = source.substr(at + 1, end - at - 1);
    const size_t bar = inside.find('|');
    Part part{literal, std::string(inside.substr(0, bar)), std::nullopt};
    if (!is_name(part.slot)) return fail_at(source, at, "a slot's name is [a-z][a-z0-9_]*");
    if (bar != std::string_view::npos) part.fallback = std::string(inside.substr(bar + 1));
    add_once(result.names_, part.slot);
    if (!part.fallback) add_once(result.required_, part.slot);
    result.parts_.push_back(std::move(part));
    literal.clear();
    at = end + 1;
  }
  if (!literal.empty()) result.parts_.push_back({literal, "", std::nullopt});
  return result;
}

std::optional<std::string> Template::fill(const Slots& slots) const {
  std::string out;
  for (const Part& part : parts_) {
    out += part.literal;
    if (part.slot.empty()) continue;
    const auto value = slots.find(part.slot);
    if (value != slots.end() && !value->second.empty()) {
      out += value->second;
    } else if (part.fallback) {
      out += *part.fallback;
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace hengshi::text
