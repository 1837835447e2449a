// sentences.h — the few sentences hengshi itself says to a user, in the question's language.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "text/text.h"

namespace hengshi::gateway {

inline std::string_view apology_sentence(text::Language language) {
  return language == text::Language::kChinese ? "抱歉，我现在无法回答这个问题，请稍后再试。"
                                              : "Sorry, I cannot answer this right now. Please try again later.";
}

// Ends a degraded light answer when the route says notice = "text".
inline std::string_view notice_sentence(text::Language language) {
  return language == text::Language::kChinese
             ? "（完整的模型暂时不可用，这是本地给出的简短回答。）"
             : " (The full model is unavailable right now; this is a short local answer.)";
}

// A name or path a client sent, as an error message may show it: at most 100 bytes, whole characters of valid UTF-8.
inline std::string shown(std::string_view text) {
  constexpr size_t kMost = 100;
  if (!text::valid_utf8(text)) return "(not UTF-8)";
  size_t end = std::min(text.size(), kMost);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end));
}

}  // namespace hengshi::gateway
