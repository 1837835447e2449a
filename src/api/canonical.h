// canonical.h — one spelling for equal JSON, so that equal requests get equal fingerprints.
//
// Shapes:  no white space; members sorted by key, equal keys in their order; strings with the fewest escapes; numbers as
//          digits without leading or trailing zeros and a power of ten (1, 1.0 and 1e0 are "1"; 10 is "1e1").
// Threads: a writer belongs to one thread.
// Source:  docs/decisions/0002-wire.md.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace hengshi::api::json {

class Canonical {
 public:
  // Values whose index is in `hidden` (ascending) are written as `?`, which no JSON value is.
  explicit Canonical(std::span<const uint32_t> hidden) : hidden_(hidden) { order_.reserve(64); }

  void value(std::string& out, Value value);
  // An object of these members only.
  void members(std::string& out, const Document& document, std::span<const uint32_t> indices);

 private:
  void object(std::string& out, Value value);
  void sorted_members(std::string& out, const Document& document, size_t base);

  std::span<const uint32_t> hidden_;
  struct Member {
    uint64_t prefix;  // First eight bytes of the key, so that most comparisons are of one word.
    uint32_t index;
  };
  void push(Value member);

  std::vector<Member> order_;  // Members of the objects being written, outermost first.
};

void append_canonical_number(std::string& out, std::string_view token);

}  // namespace hengshi::api::json
