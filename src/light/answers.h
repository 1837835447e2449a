// answers.h — the written answers of each intent: several to choose from, slots filled from the question or asked for.
//
// Shapes:  answers.json: {"format": 2, "intents": [{"name", "answers", "slots": {"order_id": {"pattern" | "kind" |
//          "values", "ask"}}}]}. Format 1, without that key, has patterns only: {"order_id": "pattern"}.
// Errors:  kInvalidRequest naming the intent and what is wrong: a bad template, a bad slot, a slot nothing fills.
// Threads: immutable once made; answer() from any thread.
// Source:  docs/pack.md.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "light/slot.h"
#include "text/slots.h"

namespace hengshi::light {

struct IntentAnswers {
  std::string name;
  std::vector<std::string> answers;
  std::map<std::string, SlotSource> slots;
};

struct Reply {
  std::string text;
  std::string_view asks;  // the slot that `text` asks for, owned by the book; empty when it answers
};

class AnswerBook {
 public:
  static Result<AnswerBook> make(std::vector<IntentAnswers> intents);
  static Result<AnswerBook> parse(std::string_view json);

  size_t size() const { return intents_.size(); }
  const std::string& name(size_t intent) const { return intents_[intent].name; }

  // One of the answers whose slots the question fills, chosen by key. When there is none, the sentence that asks for
  // the first slot that is missing and may be asked for; nullopt when there is none of that either.
  std::optional<Reply> answer(size_t intent, std::string_view question, uint64_t key) const;

 private:
  struct NamedSlot {
    std::string name, ask;
    Slot slot;
  };
  struct Intent {
    std::string name;
    std::vector<text::Template> answers;
    std::vector<NamedSlot> slots;
  };
  static Result<Intent> compile(IntentAnswers from);
  static std::optional<Reply> ask_back(const Intent& intent, const text::Slots& filled);
  std::vector<Intent> intents_;
};

std::string answers_json(const std::vector<IntentAnswers>& intents);

}  // namespace hengshi::light
