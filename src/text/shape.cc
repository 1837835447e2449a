#include "text/shape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <span>

#include "text/text.h"
#include "text/utf8.h"

namespace hengshi::text {

namespace {

// Characters; a Chinese one says as much as three Latin ones.
constexpr size_t kLongChinese = 200, kLongOther = 600;

// One of these is code.
constexpr std::string_view kCode[] = {"```",
                                      "#include",
                                      "#!/",
                                      "</",
                                      "/>",
                                      "();",
                                      ") {",
                                      "){",
                                      "=> {",
                                      "=>{",
                                      "public static",
                                      "public class",
                                      "console.log",
                                      "system.out",
                                      "std::",
                                      "import java",
                                      "traceback (most recent",
                                      "exception in thread",
                                      "syntaxerror",
                                      "typeerror:",
                                      "nullpointerexception",
                                      "segmentation fault",
                                      "<?php",
                                      "<html",
                                      "<div",
                                      "select * from",
                                      "insert into ",
                                      "print(",
                                      "printf(",
                                      "def __",
                                      "pip install",
                                      "npm install",
                                      "sudo apt"};
// Two different ones are.
constexpr std::string_view kSigns[] = {"==",  "!=",  "&&", "||", "->",   "=>",    "::",      "{",  "()",
                                       "\":", "[0]", "+=", "0x", "if (", "for (", "while (", "\\n"};

constexpr std::string_view kAsks[] = {"怎么", "如何", "怎样", "什么", "多少",   "多久",     "几",     "哪",
                                      "为何", "吗",   "呢",   "是否", "能不能", "可不可以", "是不是", "有没有"};
constexpr std::string_view kEnglishAsks[] = {"what", "how", "why", "when", "where", "which", "who"};
// A sentence that begins so asks, with or without its mark.
constexpr std::string_view kAuxiliaries[] = {"do",    "does", "did",   "is",     "are", "can",
                                             "could", "will", "would", "should", "has", "have"};
// Sentences that only open or press: a greeting, "what happened?", 怎么办.
constexpr std::string_view kPhatic[] = {"你好",
                                        "您好",
                                        "在吗",
                                        "在不在",
                                        "有人吗",
                                        "请问",
                                        "请问一下",
                                        "怎么回事",
                                        "什么情况",
                                        "为什么",
                                        "怎么办",
                                        "怎么弄",
                                        "咋回事",
                                        "咋办",
                                        "可以吗",
                                        "行吗",
                                        "好吗",
                                        "对吗",
                                        "是吗",
                                        "谢谢",
                                        "麻烦了",
                                        "hello",
                                        "hi",
                                        "hey",
                                        "hello there",
                                        "anyone there",
                                        "are you there",
                                        "why",
                                        "why not",
                                        "what happened",
                                        "what's wrong",
                                        "what is wrong",
                                        "what's going on",
                                        "what is going on",
                                        "right",
                                        "is that right",
                                        "can you help me",
                                        "what do i do",
                                        "what should i do",
                                        "what can i do",
                                        "how is this possible",
                                        "how can i fix this",
                                        "how can i fix it",
                                        "该怎么办",
                                        "该怎么弄",
                                        "怎么处理",
                                        "怎么解决",
                                        "是这个吗",
                                        "can you help"};

struct Marker {
  std::string_view words;
  bool opens;  // counts only where a sentence or a part of one begins
};

constexpr std::array kMarkers = {Marker{"顺便", false},
                                 Marker{"顺带", false},
                                 Marker{"另外", false},
                                 Marker{"此外", false},
                                 Marker{"还想问", false},
                                 Marker{"还有一个问题", false},
                                 Marker{"还有个问题", false},
                                 Marker{"还有就是", false},
                                 Marker{"再问一下", false},
                                 Marker{"再问下", false},
                                 Marker{"第二个问题", false},
                                 Marker{"还有", true},
                                 Marker{"以及", true},
                                 Marker{" and also ", false},
                                 Marker{"by the way", true},
                                 Marker{"btw", true},
                                 Marker{"also", true},
                                 Marker{"another question", true},
                                 Marker{"another thing", true},
                                 Marker{"one more thing", true},
                                 Marker{"one more question", true},
                                 Marker{"additionally", true},
                                 Marker{"second question", true},
                                 Marker{"and by the way", false}};
// 另外一张卡 is another card, 还有别的办法 another way.
constexpr std::string_view kOther[] = {"一", "的",   "那",   "两",   "几", "个",  "开",
                                       "送", "别的", "其他", "其它", "没", "什么"};
// " and how …" joins two questions when the first asks too.
constexpr std::string_view kJoined[] = {" and how ",   " and what ",    " and where ", " and why ",   " and when ",
                                        " and which ", " and can you ", " and can i ", " and do you "};

constexpr size_t kFewestHan = 4, kFewestWords = 3;  // of what may be a request by itself

bool contains(std::string_view s, std::string_view what) { return s.find(what) != std::string_view::npos; }

using Words = std::span<const std::string_view>;

bool any(Words words, std::string_view s) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return contains(s, word); });
}

bool is_code(std::string_view s) {
  if (any(kCode, s)) return true;
  return std::count_if(std::begin(kSigns), std::end(kSigns),
                       [&](std::string_view sign) { return contains(s, sign); }) >= 2;
}

bool is_word_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '\''; }

struct Size {
  size_t han = 0, words = 0;
};

Size size_of(std::string_view s) {
  Size out;
  bool in_word = false;
  for (size_t at = 0; at < s.size();) {
    const CodePoint c = decode(s, at);
    const bool word = c.value < 0x80 && is_word_byte(s[at]);
    out.han += is_han(c.value) ? 1 : 0;
    out.words += word && !in_word ? 1 : 0;
    in_word = word;
    at += c.bytes;
  }
  return out;
}

std::string_view trimmed(std::string_view s) {
  const auto edge = [](char c) {
    return c == ' ' || c == ',' || c == '.' || c == '!' || c == ';' || c == '?' || c == ':';
  };
  while (!s.empty() && edge(s.front())) s.remove_prefix(1);
  while (!s.empty() && edge(s.back())) s.remove_suffix(1);
  return s;
}

bool is_one_of(std::string_view s, Words words) { return std::find(words.begin(), words.end(), s) != words.end(); }

// Long enough to ask for something by itself, greetings aside.
bool is_request(std::string_view sentence) {
  Size sum;
  for (size_t from = 0; from <= sentence.size();) {
    const size_t end = std::min(sentence.find(',', from), sentence.size());
    const std::string_view part = trimmed(sentence.substr(from, end - from));
    const Size size = is_one_of(part, kPhatic) ? Size{} : size_of(part);
    sum.han += size.han;
    sum.words += size.words;
    from = end + 1;
  }
  return sum.han + sum.words >= (sum.han > 0 ? kFewestHan : kFewestWords);
}

// "show" does not ask how.
bool holds_word(std::string_view s, std::string_view word) {
  for (size_t at = s.find(word); at != std::string_view::npos; at = s.find(word, at + 1)) {
    const size_t end = at + word.size();
    const bool latin = is_word_byte(word.front());
    if (!latin || ((at == 0 || !is_word_byte(s[at - 1])) && (end == s.size() || !is_word_byte(s[end])))) return true;
  }
  return false;
}

bool holds_any(std::string_view s, Words words) {
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return holds_word(s, word); });
}

// "I do not know what it is" does not ask: an English sentence that asks begins so.
bool asks(std::string_view sentence) {
  if (holds_any(sentence, kAsks)) return true;
  sentence = trimmed(sentence);
  for (const std::string_view opener : {"and ", "so ", "but ", "also ", "please "}) {
    if (sentence.starts_with(opener)) sentence.remove_prefix(opener.size());
  }
  const std::string_view first = sentence.substr(0, sentence.find_first_of(" ,'"));
  return is_one_of(first, kEnglishAsks) || is_one_of(first, kAuxiliaries);
}

// The last sentence has lost its question mark to the normal form.
bool several_sentences_ask(std::string_view s) {
  size_t asking = 0, from = 0;
  for (size_t at = 0; at <= s.size(); ++at) {
    const bool last = at == s.size();
    const bool ends =
        last || s[at] == '?' || s[at] == '!' || s[at] == ';' ||
        (s[at] == '.' && at + 1 < s.size() && (s[at + 1] == ' ' || static_cast<uint8_t>(s[at + 1]) >= 0x80));
    if (!ends) continue;
    const std::string_view part = s.substr(from, at - from);
    const bool question = last ? asks(part) : s[at] == '?';
    if (question && is_request(part)) ++asking;
    from = at + 1;
  }
  return asking >= 2;
}

// A sentence, or a part of one behind a comma, begins at `at`.
bool opens(std::string_view s, size_t at) {
  while (at > 0 && s[at - 1] == ' ') --at;
  return at > 0 && (s[at - 1] == ',' || s[at - 1] == '.' || s[at - 1] == '?' || s[at - 1] == '!' || s[at - 1] == ';');
}

bool starts_any_other(std::string_view s) {
  return std::any_of(std::begin(kOther), std::end(kOther), [&](std::string_view word) { return s.starts_with(word); });
}

bool marked(std::string_view s) {
  for (const Marker& marker : kMarkers) {
    for (size_t at = s.find(marker.words); at != std::string_view::npos; at = s.find(marker.words, at + 1)) {
      const std::string_view right = s.substr(at + marker.words.size());
      if (!right.empty() && is_word_byte(right.front()) && is_word_byte(marker.words.back())) continue;
      if (marker.opens && !opens(s, at)) continue;
      if (marker.opens && static_cast<uint8_t>(marker.words[0]) >= 0x80 && !asks(right)) continue;
      if ((marker.words == "另外" || marker.words == "还有") && starts_any_other(right)) continue;
      if (is_request(s.substr(0, at)) && is_request(right)) return true;
    }
  }
  return false;
}

bool joined(std::string_view s) {
  for (const std::string_view words : kJoined) {
    const size_t at = s.find(words);
    if (at == std::string_view::npos) continue;
    const std::string_view left = s.substr(0, at), right = s.substr(at + words.size());
    if (holds_any(left, kEnglishAsks) && is_request(left) && size_of(right).words >= kFewestWords) return true;
  }
  return false;
}

}  // namespace

std::string_view unfit_shape(std::string_view normalised) {
  const size_t longest = detect_language(normalised) == Language::kChinese ? kLongChinese : kLongOther;
  if (normalised.size() > longest && count_characters(normalised) > longest) return "too_long";
  if (is_code(normalised)) return "code";
  const bool several = several_sentences_ask(normalised) || marked(normalised) || joined(normalised);
  return several ? "several_questions" : "";
}

}  // namespace hengshi::text
