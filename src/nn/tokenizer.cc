#include "nn/tokenizer.h"

#include <algorithm>

#include "nn/bert_characters.h"

namespace hengshi::nn {

namespace {

constexpr char32_t kReplacement = 0xFFFD;

// The code point at text[at], and past it; a byte that starts none counts as U+FFFD, alone.
char32_t next_code_point(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(at++);
  if (lead < 0x80) return lead;
  const size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
  if (lead < 0xC2 || lead > 0xF4 || text.size() - at < more) return kReplacement;
  char32_t c = lead & (0x3FU >> more);
  for (size_t i = 0; i < more; ++i) {
    if ((byte(at + i) & 0xC0U) != 0x80) return kReplacement;
    c = c << 6 | (byte(at + i) & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (c < kLeast[more] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return kReplacement;
  at += more;
  return c;
}

void append_utf8(char32_t c, std::string& out) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) return put(c);
  if (c < 0x800) {
    put(0xC0 | c >> 6);
  } else {
    if (c < 0x10000) {
      put(0xE0 | c >> 12);
    } else {
      put(0xF0 | c >> 18);
      put(0x80 | (c >> 12 & 0x3F));
    }
    put(0x80 | (c >> 6 & 0x3F));
  }
  put(0x80 | (c & 0x3F));
}

bool continues(char byte) { return (static_cast<uint8_t>(byte) & 0xC0U) == 0x80; }

}  // namespace

// Normalises code point by code point and hands each finished word to the vocabulary.
class Tokenizer::Splitter {
 public:
  Splitter(const Tokenizer& tokenizer, std::vector<int32_t>& out) : tokenizer_(tokenizer), out_(out) {}

  void take(char32_t c) {
    if (tokenizer_.clean_) {
      if (c == 0 || is_bert_control(c)) return;
      if (is_bert_whitespace(c)) return flush();
    }
    const bool ideograph = tokenizer_.split_ideographs_ && is_bert_ideograph(c);
    if (ideograph) flush();
    spread(c);
    if (ideograph) flush();
  }

  void flush() {
    if (characters_ == 0) return;
    tokenizer_.append_word(word_, characters_, out_);
    word_.clear();
    characters_ = 0;
  }

 private:
  void spread(char32_t c) {  // decompose, strip, lower
    if (c < 0x80) return add(tokenizer_.lowercase_ && c >= 'A' && c <= 'Z' ? c + 32 : c);
    stripped_.clear();
    if (tokenizer_.strip_accents_) {
      append_decomposition(c, stripped_);
      std::erase_if(stripped_, is_nonspacing_mark);
    } else {
      stripped_.push_back(c);
    }
    if (!tokenizer_.lowercase_) {
      for (const char32_t d : stripped_) add(d);
      return;
    }
    lowered_.clear();
    for (const char32_t d : stripped_) append_lowercase(d, lowered_);
    for (const char32_t d : lowered_) add(d);
  }

  void add(char32_t c) {
    if (is_bert_whitespace(c)) return flush();
    const bool alone = is_bert_punctuation(c);
    if (alone) flush();
    append_utf8(c, word_);
    ++characters_;
    if (alone) flush();
  }

  const Tokenizer& tokenizer_;
  std::vector<int32_t>& out_;
  std::string word_;
  size_t characters_ = 0;
  std::u32string stripped_;
  std::u32string lowered_;
};

// Greedy, longest piece first; a word that cannot be covered is one unknown.
void Tokenizer::append_word(std::string_view word, size_t characters, std::vector<int32_t>& out) const {
  if (characters > max_characters_) return out.push_back(unknown_);
  const size_t before = out.size();
  size_t start = 0;
  while (start < word.size()) {
    size_t end = std::min(word.size(), start + vocabulary_.longest());
    int32_t id = Vocabulary::kNone;
    for (; end > start; --end) {
      if (end < word.size() && continues(word[end])) continue;
      id = vocabulary_.find(word.substr(start, end - start), start > 0);
      if (id != Vocabulary::kNone) break;
    }
    if (id == Vocabulary::kNone) {
      out.resize(before);
      return out.push_back(unknown_);
    }
    out.push_back(id);
    start = end;
  }
}

const Tokenizer::AddedToken* Tokenizer::added_at(std::string_view text) const {
  for (const AddedToken& token : added_) {
    if (text.starts_with(token.content)) return &token;
  }
  return nullptr;
}

void Tokenizer::append_pieces(std::string_view text, size_t limit, std::vector<int32_t>& out) const {
  bool starts_added[256] = {};
  for (const AddedToken& token : added_) starts_added[static_cast<uint8_t>(token.content[0])] = true;
  Splitter splitter(*this, out);
  size_t at = 0;
  while (at < text.size() && out.size() < limit) {
    if (starts_added[static_cast<uint8_t>(text[at])]) {
      if (const AddedToken* const token = added_at(text.substr(at)); token != nullptr) {
        splitter.flush();
        out.push_back(token->id);
        at += token->content.size();
        continue;
      }
    }
    splitter.take(next_code_point(text, at));
  }
  splitter.flush();
}

std::vector<int32_t> Tokenizer::encode(std::string_view text, size_t max_ids) const {
  std::vector<int32_t> out;
  out.reserve(std::min({max_ids, text.size() + 2, size_t{64}}));
  out.push_back(first_);
  append_pieces(text, max_ids - 1, out);
  if (out.size() > max_ids - 1) out.resize(max_ids - 1);
  out.push_back(last_);
  return out;
}

size_t Tokenizer::count(std::string_view text) const {
  std::vector<int32_t> out;
  append_pieces(text, SIZE_MAX, out);
  return out.size();
}

}  // namespace hengshi::nn
