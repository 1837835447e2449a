#include "app/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "base/log.h"

namespace hengshi::app {

namespace {

struct Unit {
  std::string_view suffix;
  double factor;
};

// "1.5s" -> 1500 with units of milliseconds. Longest suffix first, so that "ms" is not read as "s".
std::optional<double> number_with_unit(std::string_view text, std::initializer_list<Unit> units) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0) return std::nullopt;
  const std::string_view suffix = text.substr(static_cast<size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (suffix == unit.suffix) return value * unit.factor;
  }
  return std::nullopt;
}

std::optional<double> milliseconds_of(const toml::node& node) {
  const auto text = node.value<std::string>();
  if (!text) return std::nullopt;
  return number_with_unit(*text, {{"ms", 1}, {"s", 1e3}, {"m", 6e4}, {"h", 3.6e6}, {"d", 8.64e7}});
}

constexpr std::string_view kDurationFix = "must be a duration such as \"500ms\", \"1.5s\", \"10m\", \"1h\"";

template <typename T>
std::string read_integer(const toml::node& node, T& out) {
  const auto value = node.is_integer() ? node.value<int64_t>() : std::nullopt;
  if (!value || *value < 0 || static_cast<uint64_t>(*value) > static_cast<uint64_t>(std::numeric_limits<T>::max())) {
    return fmt::format("must be a whole number from 0 to {}", std::numeric_limits<T>::max());
  }
  out = static_cast<T>(*value);
  return {};
}

}  // namespace

std::string read_value(const toml::node& node, std::string& out) {
  const auto value = node.value<std::string>();
  if (!value) return "must be a text in quotes";
  out = *value;
  return {};
}

std::string read_value(const toml::node& node, bool& out) {
  const auto value = node.is_boolean() ? node.value<bool>() : std::nullopt;
  if (!value) return "must be true or false";
  out = *value;
  return {};
}

std::string read_value(const toml::node& node, int& out) { return read_integer(node, out); }
std::string read_value(const toml::node& node, int64_t& out) { return read_integer(node, out); }
std::string read_value(const toml::node& node, uint16_t& out) { return read_integer(node, out); }
std::string read_value(const toml::node& node, size_t& out) { return read_integer(node, out); }

std::string read_value(const toml::node& node, double& out) {
  const auto value = node.is_number() ? node.value<double>() : std::nullopt;
  if (!value || !(*value >= 0 && *value <= 1)) return "must be a number from 0 to 1";
  out = *value;
  return {};
}

std::string read_value(const toml::node& node, std::optional<double>& out) {
  double value = 0;
  std::string why = read_value(node, value);
  if (why.empty()) out = value;
  return why;
}

std::string read_value(const toml::node& node, std::chrono::milliseconds& out) {
  const auto ms = milliseconds_of(node);
  if (!ms || *ms < 1 || *ms > 1e12) return std::string(kDurationFix);
  out = std::chrono::milliseconds(std::llround(*ms));
  return {};
}

std::string read_value(const toml::node& node, std::chrono::seconds& out) {
  const auto ms = milliseconds_of(node);
  if (!ms || *ms < 1000 || *ms > 1e12) return std::string(kDurationFix) + ", of a second or more";
  out = std::chrono::seconds(std::llround(*ms / 1000));
  return {};
}

std::string read_value(const toml::node& node, std::vector<std::string>& out) {
  const toml::array* list = node.as_array();
  if (list == nullptr) return "must be a list of texts such as [\"a\", \"b\"]";
  out.clear();
  for (const auto& item : *list) {
    const auto value = item.value<std::string>();
    if (!value) return "must hold texts only";
    out.push_back(*value);
  }
  return {};
}

std::string read_bytes(const toml::node& node, size_t& out) {
  const auto text = node.value<std::string>();
  const auto bytes =
      text ? number_with_unit(*text, {{"B", 1}, {"KB", 1 << 10}, {"MB", 1 << 20}, {"GB", 1 << 30}}) : std::nullopt;
  if (!bytes || *bytes > 1e15) return "must be a size such as \"64MB\" (B, KB, MB, GB)";
  out = static_cast<size_t>(*bytes);
  return {};
}

std::string read_price(const toml::node& node, int64_t& out) {
  const auto usd = node.is_number() ? node.value<double>() : std::nullopt;
  if (!usd || !(*usd >= 0 && *usd < 1e6)) return "must be US dollars per million tokens, such as 0.15";
  out = std::llround(*usd * 1e6);
  return {};
}

std::string show_value(const std::string& value) {
  std::string out;
  append_json_string(out, value);  // A JSON string is a TOML basic string.
  return out;
}
std::string show_value(bool value) { return value ? "true" : "false"; }
std::string show_value(int value) { return std::to_string(value); }
std::string show_value(int64_t value) { return std::to_string(value); }
std::string show_value(uint16_t value) { return std::to_string(value); }
std::string show_value(size_t value) { return std::to_string(value); }
std::string show_value(double value) { return fmt::format("{}", value); }
std::string show_value(const std::optional<double>& value) { return value ? show_value(*value) : std::string(); }

std::string show_value(std::chrono::milliseconds value) {
  const auto ms = value.count();
  return ms % 1000 == 0 ? fmt::format("\"{}s\"", ms / 1000) : fmt::format("\"{}ms\"", ms);
}
std::string show_value(std::chrono::seconds value) {
  const auto s = value.count();
  return s % 3600 == 0 ? fmt::format("\"{}h\"", s / 3600) : fmt::format("\"{}s\"", s);
}

std::string show_value(const std::vector<std::string>& value) {
  std::vector<std::string> quoted;
  for (const auto& item : value) quoted.push_back(show_value(item));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string show_bytes(size_t value) {
  constexpr std::array<std::pair<size_t, const char*>, 3> kUnits = {
      {{size_t{1} << 30, "GB"}, {size_t{1} << 20, "MB"}, {size_t{1} << 10, "KB"}}};
  for (const auto& [size, name] : kUnits) {
    if (value >= size && value % size == 0) return fmt::format("\"{}{}\"", value / size, name);
  }
  return fmt::format("\"{}B\"", value);
}

std::string show_price(int64_t value) { return fmt::format("{}", static_cast<double>(value) / 1e6); }

}  // namespace hengshi::app
