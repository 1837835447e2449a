// splice.h — copies a JSON object with some members changed and every other byte as it was.
//
// Errors:  none; one call per member, in document order, then add() and finish().
// Threads: one owner; the object's Document must not parse anything else meanwhile.
#pragma once

#include <string>
#include <string_view>

#include "api/json.h"

namespace hengshi::api::json {

class Splice {
 public:
  Splice(std::string& out, Value object);

  void keep(Value member);
  void remove(Value member);
  void replace(Value member, std::string_view json);
  // Writes the member's key; the caller writes its new value.
  void open(Value member);
  // A new last member: `"key":` and its value are the caller's to write.
  void add();
  void finish();

 private:
  std::string_view bytes(size_t begin, size_t end) const { return text_.substr(begin, end - begin); }

  std::string& out_;
  Value object_;
  std::string_view text_;
  std::string_view lead_;  // White space before the first member.
  size_t done_;            // Up to here the text was copied or dropped.
  bool first_ = true;      // No member came yet.
  bool empty_ = true;      // No member was written yet.
};

}  // namespace hengshi::api::json
