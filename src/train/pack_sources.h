// pack_sources.h — what other people's files say, as rows: the readers behind `hengshi pack import`.
//
// Shapes:  a row without a label is known by its answer alone (FAQ, chats); a row without text only adds an answer to
//          its label. A row that lacks what it needs is left out and noted.
// Errors:  kInvalidRequest "file:line: what is wrong; what to write".
// Threads: pure.
// Source:  docs/pack.md; RFC 4180; Rasa's training data format 3.1.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/pack.h"
#include "train/rows.h"

namespace hengshi::train {

struct Imported {
  std::vector<Row> rows;
  bool templates = false;          // answers are templates of ours, with {slot} and {{; else plain text
  std::vector<std::string> notes;  // what was left out, and how often
};

// What was left out for one reason: how often, and where the first ones stood.
class LeftOut {
 public:
  void add(uint32_t place);
  // "left out: rows without text (2: lines 4, 9)"; nothing when there are none.
  void note(std::string_view what, std::string_view place, std::vector<std::string>& notes) const;

 private:
  size_t count_ = 0;
  std::vector<uint32_t> first_;
};

enum class TableForm : uint8_t { kAny, kFaq };                      // kFaq: question and answer, no label
enum class JsonForm : uint8_t { kAny, kRows, kAlpaca, kMessages };  // one of them: a row of another is an error

// A CSV file whose first line names its columns: text or question, label or intent, answer, lang. `columns` names them
// otherwise, "text=Frage,answer=Antwort", or by number where there is no such line, "text=1,label=3".
Result<Imported> import_table(const PackFile& file, const std::string& columns, TableForm form);

// One JSON object per line, or one list of them. Which keys tell: text, label (our rows); instruction, input, output
// (Alpaca); messages (OpenAI).
Result<Imported> import_json(const PackFile& file, JsonForm form);

// Rasa's NLU examples, annotations stripped, and the responses utter_<intent> as answers.
Result<Imported> import_rasa(const std::vector<PackFile>& files);

}  // namespace hengshi::train
