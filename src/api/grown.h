// grown.h — a JSON value that arrived in fragments, put together.
//
// Shapes:  strings and arrays grow, objects grow member by member, anything else is replaced; null changes nothing.
//          Members that identify (id, type, name, role, format) are replaced, never joined: some servers repeat them.
// Threads: values.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "api/json.h"

namespace hengshi::api {

class Grown {
 public:
  void take(json::Value fragment);
  void take_member(json::Value member);  // Into the member of its name.
  void take_text(std::string_view name, std::string_view text);
  void write(std::string& out) const;  // As JSON, without line breaks.

  bool empty() const { return kind_ == json::Kind::kNull; }
  const std::string* text() const { return kind_ == json::Kind::kString ? &text_ : nullptr; }
  const Grown* find(std::string_view name) const;
  const std::vector<std::pair<std::string, Grown>>& members() const { return members_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  static constexpr size_t kNone = SIZE_MAX;

  size_t place_of(std::string_view name) const;  // kNone: there is no such member.
  Grown& member(std::string_view name);
  void become(json::Kind kind);

  json::Kind kind_ = json::Kind::kNull;
  std::string text_;  // A string's text; an array's elements as JSON; a number's token.
  std::vector<std::pair<std::string, Grown>> members_;
  // Where each member is, once there are many: an upstream may name tens of thousands.
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> places_;
};

}  // namespace hengshi::api
