// pack_names.h — names of intents made from what other formats call them, or from a question.
//
// Shapes:  [a-z][a-z0-9_]*, at most 40 characters; Chinese becomes pinyin without tones.
// Errors:  none: what gives no letters is "intent".
// Threads: NameBook: one thread.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

namespace hengshi::train {

// "Card Arrival" → card_arrival, faq/退款 → faq_tui_kuan.
std::string name_of_label(std::string_view label);

// Of a question, the words that say what it is about: "How do I reset my password?" → reset_password.
std::string name_of_question(std::string_view question);

// Two labels never share a name: the second gets _2.
class NameBook {
 public:
  const std::string& of_label(const std::string& label);
  std::string fresh(const std::string& name);

 private:
  std::unordered_map<std::string, std::string> by_label_;
  std::unordered_set<std::string> taken_;
};

}  // namespace hengshi::train
