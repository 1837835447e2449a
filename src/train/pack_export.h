// pack_export.h — `hengshi pack export`: a pack as one file for other programs, and for `pack import` to read again.
//
// Shapes:  jsonl and csv carry text, label, answer and lang; rasa carries one language, answers as responses.
// Errors:  the pack's; a format that is not known; a pack of several languages where one must be named; a file that cannot
//          be written.
// Threads: one thread.
// Source:  docs/pack.md.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/pack.h"

namespace hengshi::train {

struct ExportOptions {
  std::string pack;  // folder or JSONL file
  std::string format, out;
  std::string lang;  // one language only
};

struct Exported {
  std::string bytes;
  size_t rows = 0;
  std::vector<std::string> notes;  // what the format cannot carry
};

// A table of what was written, to print.
Result<std::string> export_pack(const ExportOptions& options);

Result<Exported> exported(const Pack& pack, const std::string& format, std::optional<text::Language> language);

}  // namespace hengshi::train
