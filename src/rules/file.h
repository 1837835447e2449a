// file.h — a rules file read: what it says, where it says it, nothing compiled yet.
//
// Errors:  kInvalidRequest "file:line: reason", the file in `param`: bad TOML, an unknown or missing key, a wrong type.
// Threads: values.
// Source:  docs/rules.md describes the file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/text.h"

namespace hengshi::rules {

struct Located {
  std::string text;
  uint32_t line = 0;
};

inline constexpr size_t kLanguages = 3;  // text::Language as an index

struct RuleText {
  Located name;
  int64_t priority = 0;
  std::optional<text::Language> language;  // none: any
  std::vector<Located> patterns;
  std::array<std::optional<Located>, kLanguages> answers;
  Located route;  // empty: none
  std::vector<Located> examples, counter_examples;

  bool takes(text::Language asked) const { return !language || *language == asked; }
};

Result<std::vector<RuleText>> read_rules(std::string_view toml, const std::string& file_name);

// "file:line: rule "name": reason", as every error of this room says it.
tl::unexpected<Error> fault(const std::string& file_name, uint32_t line, std::string_view rule,
                            std::string_view reason);

}  // namespace hengshi::rules
