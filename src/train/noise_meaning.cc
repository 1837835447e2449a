#include "train/noise_meaning.h"

#include <algorithm>

#include "text/lexicon.h"
#include "text/numeral.h"
#include "text/simplify.h"
#include "text/utf8.h"

namespace hengshi::train {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_joiner(char c) { return c != '\0' && std::string_view("-_.@#:/&+%").find(c) != std::string_view::npos; }

char32_t fold(char32_t c) {
  if (c >= 0xFF01 && c <= 0xFF5E) c -= 0xFEE0;
  if (c >= 'A' && c <= 'Z') return c + 0x20;
  if (c == 0x2018 || c == 0x2019) return '\'';
  return text::simplify(c);
}

// Reads a folded text once, left to right. Offsets are bytes of the folded text.
class Reader {
 public:
  explicit Reader(const std::u32string& text) {
    for (const char32_t c : text) {
      starts_.push_back(folded_.size());
      text::append(folded_, fold(c));
    }
    meaning_.kept.assign(text.size(), 0);
  }

  Meaning read() && {
    while (at_ < folded_.size()) {
      const char c = folded_[at_];
      at_ = is_digit(c) || is_letter(c) ? read_run() : read_other();
    }
    std::sort(meaning_.polarity.begin(), meaning_.polarity.end());
    return std::move(meaning_);
  }

 private:
  void keep(size_t from, size_t to) {
    meaning_.fixed.append(folded_, from, to - from).push_back('\n');
    const auto first = std::lower_bound(starts_.begin(), starts_.end(), from);
    for (auto it = first; it != starts_.end() && *it < to; ++it) {
      meaning_.kept[static_cast<size_t>(it - starts_.begin())] = 1;
    }
  }

  void weigh(size_t from, size_t to, std::string_view effects) {
    if (effects.find('!') != std::string_view::npos) {
      keep(from, to);
    } else if (!effects.empty()) {
      meaning_.polarity.push_back(effects);
    }
  }

  // Letters and digits, and what joins them. With a digit or an @ it is a number or an id, else words.
  size_t read_run() {
    size_t end = at_;
    bool id = false;
    while (end < folded_.size()) {
      const char c = folded_[end];
      const char next = end + 1 < folded_.size() ? folded_[end + 1] : '\0';
      if (!is_digit(c) && !is_letter(c) && !(is_joiner(c) && (is_digit(next) || is_letter(next) || next == '/'))) break;
      id = id || is_digit(c) || c == '@' || (c == ':' && next == '/');
      ++end;
    }
    if (id) {
      if (const auto number = text::read_digits(folded_, at_)) end = std::max(end, number->end);  // 3万, 3 million
      keep(at_, end);
      return end;
    }
    return read_word();
  }

  size_t read_word() {
    if (const auto phrase = text::english_phrase(folded_, at_)) {
      weigh(at_, at_ + phrase->text.size(), phrase->effects);
      return at_ + phrase->text.size();
    }
    if (const auto number = text::read_english_numeral(folded_, at_)) {
      keep(at_, number->end);
      return number->end;
    }
    size_t end = at_;
    while (end < folded_.size() && (is_letter(folded_[end]) || folded_[end] == '\'')) ++end;
    if (const auto effects = text::english_effects(std::string_view(folded_).substr(at_, end - at_))) {
      weigh(at_, end, *effects);
    }
    return end;
  }

  size_t read_other() {
    const text::CodePoint c = text::decode(folded_, at_);
    if (!text::is_han(c.value)) return at_ + c.bytes;
    if (const auto word = text::chinese_word(folded_, at_)) {
      weigh(at_, at_ + word->text.size(), word->effects);
      return at_ + word->text.size();
    }
    if (const auto number = text::read_chinese_numeral(folded_, at_)) {
      keep(at_, number->end);
      return number->end;
    }
    return at_ + c.bytes;
  }

  std::string folded_;
  std::vector<size_t> starts_;
  size_t at_ = 0;
  Meaning meaning_;
};

}  // namespace

std::u32string characters_of(std::string_view bytes) {
  std::u32string out;
  out.reserve(bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    const text::CodePoint c = text::decode(bytes, at);
    out += c.value;
    at += c.bytes;
  }
  return out;
}

std::string bytes_of(const std::u32string& characters) {
  std::string out;
  out.reserve(characters.size() * 3);
  for (const char32_t c : characters) text::append(out, c);
  return out;
}

Meaning read_meaning(const std::u32string& text) { return Reader(text).read(); }

bool same_meaning(const Meaning& before, const Meaning& after) {
  return before.fixed == after.fixed &&
         std::includes(before.polarity.begin(), before.polarity.end(), after.polarity.begin(), after.polarity.end());
}

}  // namespace hengshi::train
