// pack_import.h — `hengshi pack import`: other people's files as a pack folder a person goes on editing.
//
// Errors:  the source's, with file and line; a format that cannot be told; a folder that is there or cannot be written.
// Threads: one thread.
// Source:  docs/pack.md.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "train/pack.h"
#include "train/pack_sources.h"

namespace hengshi::train {

struct ImportOptions {
  std::string source;   // a file, or a folder of Rasa's YAML files
  std::string out;      // the pack's folder, new or empty; its last part names the pack
  std::string format;   // csv, faq, jsonl, alpaca, openai or rasa, enforced; empty: told by the file
  std::string lang;     // zh, en or other for every row; empty: told row by row
  std::string columns;  // of a table
};

struct ImportReport {
  std::string folder;
  size_t intents = 0, phrasings = 0, answers = 0, negatives = 0;
  std::vector<std::string> notes;  // what was left out, and what must be mended before training

  std::string table() const;
};

Result<ImportReport> import_pack(const ImportOptions& options);

struct ImportedPack {
  Pack pack;
  std::vector<std::string> notes;  // the source's, and what was taken for granted
};

// Names, languages and answers as a pack has them; `name` becomes the pack's.
Result<ImportedPack> pack_of_import(Imported imported, const std::string& lang, const std::string& name);

}  // namespace hengshi::train
