// rows.h — labelled questions as one JSON object per line: {"text", "label", "answer"?, "lang"?}.
//
// Errors:  kInvalidRequest "file:line: what is wrong; what to write"; kNotFound for a file that cannot be read.
// Threads: values.
// Source:  docs/pack.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/text.h"

namespace hengshi::train {

inline constexpr std::string_view kOutOfScope = "oos";  // the label of a question that must not be answered

struct Row {
  std::string text, label, answer, lang;  // the last two may be empty
  uint32_t line = 0;
};

// Of its "lang"; of its text, Chinese or English, when it has none.
Result<text::Language> language_of_row(const Row& row, const std::string& file);

inline constexpr std::string_view kLanguageNames = "zh, en, or other for any further language";

enum class OtherKeys { kRefused, kIgnored };

Result<std::vector<Row>> parse_rows(std::string_view jsonl, const std::string& file, OtherKeys other_keys);
Result<std::vector<Row>> read_rows(const std::string& file, OtherKeys other_keys);

Result<std::string> read_text_file(const std::string& file);

// Names the first line that is not UTF-8.
Result<void> check_utf8(std::string_view bytes, const std::string& file);

// "file:line: why", the file in `param`, as every error of this room's readers says it.
tl::unexpected<Error> fault(const std::string& file, uint32_t line, std::string_view why);

}  // namespace hengshi::train
