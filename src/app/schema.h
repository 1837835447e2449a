// schema.h — one table per config section: key, value, meaning. Reading, showing and documenting all come from it.
//
// Errors:  a reader answers why a value does not fit ("must be a duration such as \"1.5s\"").
// Threads: built once, then immutable.
#pragma once

#include <toml++/toml.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hengshi::app {

// How a type is read from TOML and written back. read() answers the reason when the value does not fit.
std::string read_value(const toml::node& node, std::string& out);
std::string read_value(const toml::node& node, bool& out);
std::string read_value(const toml::node& node, int& out);
std::string read_value(const toml::node& node, int64_t& out);
std::string read_value(const toml::node& node, uint16_t& out);
std::string read_value(const toml::node& node, size_t& out);
std::string read_value(const toml::node& node, double& out);
std::string read_value(const toml::node& node, std::optional<double>& out);
std::string read_value(const toml::node& node, std::chrono::milliseconds& out);
std::string read_value(const toml::node& node, std::chrono::seconds& out);
std::string read_value(const toml::node& node, std::vector<std::string>& out);
std::string read_bytes(const toml::node& node, size_t& out);
std::string read_price(const toml::node& node, int64_t& out);  // USD per million tokens -> micro-USD

std::string show_value(const std::string& value);
std::string show_value(bool value);
std::string show_value(int value);
std::string show_value(int64_t value);
std::string show_value(uint16_t value);
std::string show_value(size_t value);
std::string show_value(double value);
std::string show_value(const std::optional<double>& value);
std::string show_value(std::chrono::milliseconds value);
std::string show_value(std::chrono::seconds value);
std::string show_value(const std::vector<std::string>& value);
std::string show_bytes(size_t value);
std::string show_price(int64_t value);

template <typename S>
struct Field {
  std::string_view key;
  std::string_view help;
  std::function<std::string(const toml::node&, S&)> read;  // empty: fits
  std::function<std::string(const S&)> show;               // empty: unset
};

template <typename S>
class Section {
 public:
  Section(std::string_view name, bool many, std::string_view help) : name_(name), many_(many), help_(help) {}

  template <typename T, typename Base>
  Section& add(std::string_view key, T Base::* member, std::string_view help) {
    fields_.push_back({key, help, [member](const toml::node& node, S& s) { return read_value(node, s.*member); },
                       [member](const S& s) { return show_value(s.*member); }});
    return *this;
  }
  template <typename Base>
  Section& add_bytes(std::string_view key, size_t Base::* member, std::string_view help) {
    fields_.push_back({key, help, [member](const toml::node& node, S& s) { return read_bytes(node, s.*member); },
                       [member](const S& s) { return show_bytes(s.*member); }});
    return *this;
  }
  // One of several words.
  template <typename T, typename Base>
  Section& add_choice(std::string_view key, T Base::* member,
                      const std::vector<std::pair<std::string_view, T>>& choices, std::string_view help) {
    auto read = [member, choices](const toml::node& node, S& s) -> std::string {
      const auto word = node.value<std::string>();
      std::string known;
      for (const auto& [name, value] : choices) {
        if (word == name) {
          s.*member = value;
          return {};
        }
        known += known.empty() ? "\"" : ", \"";
        known += std::string(name) + "\"";
      }
      return "must be one of " + known;
    };
    auto show = [member, choices](const S& s) -> std::string {
      for (const auto& [name, value] : choices) {
        if (s.*member == value) return "\"" + std::string(name) + "\"";
      }
      return {};
    };
    fields_.push_back({key, help, std::move(read), std::move(show)});
    return *this;
  }
  Section& add_custom(Field<S> field) {
    fields_.push_back(std::move(field));
    return *this;
  }

  std::string_view name() const { return name_; }
  bool many() const { return many_; }
  std::string_view help() const { return help_; }
  const std::vector<Field<S>>& fields() const { return fields_; }

 private:
  std::string_view name_;
  bool many_;  // [[name]] rather than [name]
  std::string_view help_;
  std::vector<Field<S>> fields_;
};

}  // namespace hengshi::app
