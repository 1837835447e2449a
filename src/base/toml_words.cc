#include "base/toml_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace hengshi {

namespace {

constexpr std::string_view kTwice = "cannot redefine existing ";

std::string_view trimmed(std::string_view s) {
  const size_t from = s.find_first_not_of(" \t\r");
  return from == std::string_view::npos ? std::string_view() : s.substr(from, s.find_last_not_of(" \t\r") - from + 1);
}

// "[ a.b ]" and "[[a.b]]" head "a.b".
std::string_view heads(std::string_view line) {
  if (!line.starts_with('[')) return {};
  while (line.starts_with('[')) line.remove_prefix(1);
  return trimmed(line.substr(0, line.find(']')));
}

bool sets(std::string_view line, std::string_view key) {
  return line.starts_with(key) && trimmed(line.substr(key.size())).starts_with('=');
}

// The line above `below` where a table is headed or, within one table, a key is set. 0: it is not written out so.
uint32_t first_line(std::string_view text, std::string_view name, bool table, uint32_t below) {
  uint32_t found = 0, number = 1;
  for (; number < below && !text.empty(); ++number) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    if (table && found == 0 && heads(line) == name) found = number;
    if (!table && !heads(line).empty()) found = 0;
    if (!table && found == 0 && sets(line, name)) found = number;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

}  // namespace

std::string toml_words(std::string_view description, std::string_view text, uint32_t line) {
  const size_t at = description.find(kTwice);
  const size_t quote = at == std::string_view::npos ? at : description.find('\'', at);
  const size_t end = quote == std::string_view::npos ? quote : description.find('\'', quote + 1);
  if (end == std::string_view::npos) return std::string(description);
  const std::string_view name = trimmed(description.substr(quote + 1, end - quote - 1));
  const std::string_view behind = description.substr(end + 1);
  const bool table = description.substr(at + kTwice.size()).starts_with("table");
  const bool header = !behind.empty() || description.find("table header") != std::string_view::npos;
  const uint32_t first = first_line(text, name, header, line);
  const std::string where = first > 0 ? fmt::format(" in line {}", first) : "";
  if (!behind.empty()) return fmt::format("'{}' is there already{} and is no {}", name, where, behind.substr(4));
  if (header && table) {
    return fmt::format("[{}] is there already{}: write its keys there and take this line out", name, where);
  }
  return fmt::format("{} is there already{}: keep one of the two", name, where);
}

}  // namespace hengshi
