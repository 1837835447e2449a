// pack.h — a pack as a person wrote it: intents with phrasings, answers and slots, and negatives, per language.
//
// Errors:  kInvalidRequest "file:line: what is wrong; what to do", the file in `param`; kNotFound without pack.toml.
// Threads: values.
// Source:  docs/pack.md.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "light/answers.h"
#include "text/text.h"
#include "train/rows.h"

namespace hengshi::train {

struct Located {
  std::string text, file;
  uint32_t line = 0;
};

struct Side {  // of an intent, in one language
  std::vector<Located> phrasings, answers;
};

struct PackSlot {
  Located name;                            // stands where its pattern, kind or values do
  light::SlotSource source;                // without `ask`
  std::map<text::Language, Located> asks;  // the sentence that asks for it
};

struct PackIntent {
  Located name;
  std::map<text::Language, Side> sides;
  std::map<std::string, PackSlot> slots;
};

struct Pack {
  std::string name, description, where;  // where: the folder or file it came from
  std::vector<text::Language> languages;
  std::vector<PackIntent> intents;
  std::map<text::Language, std::vector<Located>> negatives;
  std::string digest;  // SHA-256 over every file read, 64 hex
};

struct PackFile {
  std::string name, bytes;
};

// A folder with pack.toml, intents/ and negatives/, or one JSONL file. What comes back has been checked as a whole.
Result<Pack> read_pack(const std::string& path);

// The same without the checks of the whole: a pack that is being written. pack_check.h says what it still lacks.
Result<Pack> read_unchecked_pack(const std::string& path);

// From memory. The first file is pack.toml; "intents/…" and "negatives/…" tell the others apart.
Result<Pack> parse_pack(const std::vector<PackFile>& files, const std::string& where);
Result<Pack> parse_jsonl_pack(const PackFile& file);

// Rows as a pack: one intent per label, negatives under "oos"; a row without text only adds its answer. Without a
// language it is told from the text.
Result<Pack> pack_of_rows(const std::vector<Row>& rows, const std::string& file);

// Of the intents that speak this language, in the pack's order.
std::vector<const PackIntent*> intents_in(const Pack& pack, text::Language language);
std::vector<light::IntentAnswers> answers_in(const Pack& pack, text::Language language);

}  // namespace hengshi::train
