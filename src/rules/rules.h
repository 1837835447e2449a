// rules.h — patterns that answer by template, and static routes.
//
// Errors:  parse() names file, line and reason; a rule whose own examples fail is an error. fail closed: a bad file
//          never replaces a good one.
// Threads: immutable once parsed; match() from any thread.
// Source:  docs/rules.md describes the file.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/text.h"

namespace hengshi::rules {

struct Match {
  std::string_view rule;   // its name
  std::string answer;      // empty when the rule only routes
  std::string_view route;  // name of a route to take instead; empty: none
};

class RuleSet {
 public:
  static Result<std::shared_ptr<const RuleSet>> parse(std::string_view toml, const std::string& file_name);
  static Result<std::shared_ptr<const RuleSet>> load(const std::string& path);
  virtual ~RuleSet() = default;
  // The matching rule of highest priority; of equal ones the first in the file. `question` as asked.
  virtual std::optional<Match> match(std::string_view question, text::Language language) const = 0;
  virtual size_t size() const = 0;
  virtual std::vector<std::string> routes() const = 0;  // every route named, for the config check
  virtual const std::string& version() const = 0;  // 12 hex of the file's SHA-256
};

}  // namespace hengshi::rules
