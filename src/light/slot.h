// slot.h — what fills a slot of an answer: a pattern, a kind of value, or a list of values and what else they are called.
//
// Errors:  kInvalidRequest saying what is wrong with the source; reading is total.
// Threads: immutable once made; read() from any thread.
// Source:  docs/pack.md.
#pragma once

#include <re2/re2.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/value.h"

namespace hengshi::light {

struct SlotSource {                                        // exactly one of the first three
  std::string pattern;                                     // RE2; its first group, or the whole match, is the value
  std::string kind;                                        // see text/value.h
  std::map<std::string, std::vector<std::string>> values;  // the value → its other names
  std::string ask;                                         // the sentence that asks for it; empty: it is not asked for
};

class Slot {
 public:
  static Result<Slot> make(const SlotSource& source);

  // The value the question gives; nullopt when it gives none.
  std::optional<std::string> read(std::string_view question) const;

 private:
  struct Name {
    std::string normal;  // form
    std::string value;
  };
  std::unique_ptr<const re2::RE2> pattern_;
  std::optional<text::ValueKind> kind_;
  std::vector<Name> names_;
};

}  // namespace hengshi::light
