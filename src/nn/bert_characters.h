// bert_characters.h — the character classes that BERT's tokenizers go by.
//
// Errors:  none; any code point may be asked about.
// Threads: free functions, any thread.
// Source:  BERT's tokenization.py and Hugging Face tokenizers 0.2x (bert normalizer and pre-tokenizer), whose category
//          tables are Unicode 8's and whose white space, case and decompositions are newer.
#pragma once

#include <string>

namespace hengshi::nn {

bool is_bert_whitespace(char32_t c);
bool is_bert_control(char32_t c);      // dropped when cleaning; also NUL and U+FFFD
bool is_bert_ideograph(char32_t c);    // a word of its own
bool is_bert_punctuation(char32_t c);  // a word of its own
bool is_nonspacing_mark(char32_t c);

// Canonical decomposition of one code point, appended to out as code points; itself when it has none.
void append_decomposition(char32_t c, std::u32string& out);
void append_lowercase(char32_t c, std::u32string& out);

}  // namespace hengshi::nn
