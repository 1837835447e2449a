// slots.h — the one small language of templates: text with {slot} places.
//
// Errors:  parse() names the column; fill() is total: a slot without a value (or an empty one) and without a default
//          keeps the template out (nullopt).
// Threads: values.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi::text {

using Slots = std::map<std::string, std::string, std::less<>>;

// "Order {order_id} is on its way; {{literal}} braces double." Names: [a-z][a-z0-9_]*. "{name|default}" has a default.
class Template {
 public:
  static Result<Template> parse(std::string_view source);
  std::optional<std::string> fill(const Slots& slots) const;
  const std::vector<std::string>& names() const { return names_; }
  const std::vector<std::string>& required() const {
    return required_;
  }  // those that stand somewhere without a default

 private:
  struct Part {
    std::string literal;
    std::string slot;  // empty: literal only
    std::optional<std::string> fallback;
  };
  std::vector<Part> parts_;
  std::vector<std::string> names_, required_;
};

}  // namespace hengshi::text
