// grown.h — a JSON value that arrived in fragments, put together.
//
// Shapes:  strings and arrays grow, objects grow member by member, anything else is replaced; null changes nothing.
//          Members that identify (id, type, name, role, format) are replaced, never joined: some servers repeat them.
// Threads: values.
#pragma once

#include <string>
#include <string_view>
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
  Grown& member(std::string_view name);
  void become(json::Kind kind);

  json::Kind kind_ = json::Kind::kNull;
  std::string text_;  // A string's text; an array's elements as JSON; a number's token.
  std::vector<std::pair<std::string, Grown>> members_;
};

}  // namespace hengshi::api
