#include "train/foreign.h"

namespace hengshi::train {

std::vector<std::string> foreign_questions(text::Language language) {
  std::vector<std::string> out;
  if (language == text::Language::kOther) return out;
  std::string_view rest = language == text::Language::kChinese ? foreign_chinese() : foreign_english();
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  return out;
}

}  // namespace hengshi::train
