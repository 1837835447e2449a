// tokenizer.h — text to word-piece ids, as a tokenizer.json of the BERT kind says.
//
// Shapes:  ids int32, each in [0, ids()).
// Errors:  parse() names the file and the part that is missing or of another kind; encode() is total: bytes that are no
//          UTF-8 count as U+FFFD, which cleaning drops.
// Threads: immutable once made; encode() from any thread.
// Source:  Hugging Face tokenizers: BertNormalizer, BertPreTokenizer, WordPiece, TemplateProcessing; the file's padding
//          and truncation are not followed. WordPiece: Wu 2016, section 4.1.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "nn/vocabulary.h"

namespace hengshi::nn {

class Tokenizer {
 public:
  // `lowercase` also strips accents, whatever the file says: see weights whose file forgot it.
  static Result<Tokenizer> parse(std::string_view json, const std::string& file, bool lowercase = false);

  // With [CLS] and [SEP], at most max_ids (>= 2) of them; the tail of the text is cut.
  std::vector<int32_t> encode(std::string_view text, size_t max_ids = SIZE_MAX) const;
  size_t count(std::string_view text) const;  // without [CLS] and [SEP], nothing cut

  size_t ids() const { return ids_; }  // one more than the largest id
  int32_t unknown() const { return unknown_; }
  size_t memory_bytes() const { return vocabulary_.memory_bytes(); }

 private:
  struct AddedToken {
    std::string content;
    int32_t id = 0;
  };
  class Reader;
  class Splitter;

  Tokenizer() : vocabulary_(0) {}
  const AddedToken* added_at(std::string_view text) const;
  void append_pieces(std::string_view text, size_t limit, std::vector<int32_t>& out) const;
  void append_word(std::string_view word, size_t characters, std::vector<int32_t>& out) const;

  Vocabulary vocabulary_;
  std::vector<AddedToken> added_;  // longest first
  size_t ids_ = 0;
  int32_t unknown_ = 0;
  int32_t first_ = 0;
  int32_t last_ = 0;
  size_t max_characters_ = 100;
  bool clean_ = true;
  bool split_ideographs_ = true;
  bool strip_accents_ = true;
  bool lowercase_ = true;
};

}  // namespace hengshi::nn
