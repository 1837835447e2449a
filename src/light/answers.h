// answers.h — the written answers of each intent: several to choose from, slots filled from the question.
//
// Errors:  kInvalidRequest naming the intent and what is wrong: a bad template, a bad pattern, a slot nothing fills.
// Threads: immutable once made; answer() from any thread.
// Source:  docs/pack.md.
#pragma once

#include <re2/re2.h>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/slots.h"

namespace hengshi::light {

struct IntentAnswers {
  std::string name;
  std::vector<std::string> answers;
  std::map<std::string, std::string> slots;  // name → RE2 pattern
};

// A slot's pattern, bounded in memory; its first group, or the whole match, is the value.
Result<std::unique_ptr<const re2::RE2>> compile_slot(const std::string& pattern);

class AnswerBook {
 public:
  static Result<AnswerBook> make(std::vector<IntentAnswers> intents);
  static Result<AnswerBook> parse(std::string_view json);

  size_t size() const { return intents_.size(); }
  const std::string& name(size_t intent) const { return intents_[intent].name; }

  // One of the answers whose slots the question fills, chosen by key; nullopt when there is none.
  std::optional<std::string> answer(size_t intent, std::string_view question, uint64_t key) const;

 private:
  struct Slot {
    std::string name;
    std::unique_ptr<const re2::RE2> pattern;
  };
  struct Intent {
    std::string name;
    std::vector<text::Template> answers;
    std::vector<Slot> slots;
  };
  static Result<Intent> compile(IntentAnswers from);
  std::vector<Intent> intents_;
};

std::string answers_json(const std::vector<IntentAnswers>& intents);

}  // namespace hengshi::light
