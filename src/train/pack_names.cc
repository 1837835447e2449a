#include "train/pack_names.h"

#include <unicode/translit.h>

#include <algorithm>
#include <array>
#include <memory>

#include "train/rows.h"

namespace hengshi::train {

namespace {

constexpr size_t kLongest = 40, kWords = 4;

// Said in every question, and nothing about what it asks.
constexpr std::array<std::string_view, 27> kChineseFillers = {
    "为什么",   "怎么样", "怎么办", "怎么", "如何", "怎样", "请问", "是否", "能不能",
    "可不可以", "可以",   "什么",   "我想", "我要", "帮我", "你们", "我的", "一下",
    "我",       "你",     "吗",     "呢",   "吧",   "了",   "的",   "啊",   "么"};
constexpr std::array<std::string_view, 42> kEnglishFillers = {
    "a",  "an",  "the",  "i",    "my",    "me",  "you",   "your",  "we",    "our",   "us",
    "is", "are", "am",   "do",   "does",  "did", "can",   "could", "will",  "would", "should",
    "to", "of",  "for",  "in",   "on",    "at",  "it",    "its",   "this",  "that",  "and",
    "or", "how", "what", "when", "where", "why", "which", "there", "please"};

bool is_plain(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Latin letters without marks, in lower case; ICU's tables hold pinyin.
std::string latin(std::string_view text) {
  static const std::unique_ptr<icu::Transliterator> tables = [] {
    UErrorCode status = U_ZERO_ERROR;
    return std::unique_ptr<icu::Transliterator>(
        icu::Transliterator::createInstance("Any-Latin; Latin-ASCII; Lower", UTRANS_FORWARD, status));
  }();
  std::string out;
  if (tables == nullptr) return out;
  icu::UnicodeString wide = icu::UnicodeString::fromUTF8({text.data(), static_cast<int32_t>(text.size())});
  const std::unique_ptr<icu::Transliterator> mine(tables->clone());
  mine->transliterate(wide);
  return wide.toUTF8String(out);
}

// Words of letters and digits, joined by _; cut between words.
std::string joined(std::string_view words, size_t most_words) {
  std::string out;
  for (size_t at = 0; at < words.size() && most_words > 0; --most_words) {
    while (at < words.size() && !is_plain(words[at])) ++at;
    size_t end = at;
    while (end < words.size() && is_plain(words[end])) ++end;
    if (end == at) break;
    const size_t size = out.size() + (out.empty() ? 0 : 1) + (end - at);
    if (size > kLongest && !out.empty()) break;
    if (!out.empty()) out += '_';
    out.append(words.substr(at, std::min(end - at, kLongest)));
    at = end;
  }
  if (out.empty()) return "intent";
  if (out[0] < 'a') out.insert(0, "n_");  // a name begins with a letter
  return out == kOutOfScope ? out + "_1" : out;
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
    text.replace(at, what.size(), with);
  }
}

std::string without_english_fillers(std::string_view words) {
  std::string out;
  for (size_t at = 0; at < words.size();) {
    while (at < words.size() && !is_plain(words[at])) ++at;
    size_t end = at;
    while (end < words.size() && is_plain(words[end])) ++end;
    const std::string_view word = words.substr(at, end - at);
    const bool filler = std::find(kEnglishFillers.begin(), kEnglishFillers.end(), word) != kEnglishFillers.end();
    if (!word.empty() && !filler) {
      out.append(word).append(" ");
    }
    at = end;
  }
  return out;
}

}  // namespace

std::string name_of_label(std::string_view label) { return joined(latin(label), kLongest); }

std::string name_of_question(std::string_view question) {
  std::string text(question);
  for (const std::string_view filler : kChineseFillers) replace_all(text, filler, " ");
  const std::string all = latin(text), telling = without_english_fillers(all);
  return joined(telling.empty() ? latin(question) : telling, kWords);
}

std::string NameBook::fresh(const std::string& name) {
  std::string out = name;
  for (size_t n = 2; !taken_.insert(out).second; ++n) out = name + "_" + std::to_string(n);
  return out;
}

const std::string& NameBook::of_label(const std::string& label) {
  const auto known = by_label_.find(label);
  if (known != by_label_.end()) return known->second;
  return by_label_.emplace(label, fresh(name_of_label(label))).first->second;
}

}  // namespace hengshi::train
