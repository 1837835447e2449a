#include "train/pack_import.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <unordered_map>
#include <unordered_set>

#include "base/counted.h"
#include "train/pack_check.h"
#include "train/pack_names.h"
#include "train/pack_write.h"

namespace hengshi::train {

namespace {

namespace fs = std::filesystem;

enum class Kind { kTable, kJson, kRasa };

struct Format {
  std::string_view name;  // of --format, or a file's ending
  Kind kind = Kind::kTable;
  TableForm table = TableForm::kAny;
  JsonForm json = JsonForm::kAny;
};

constexpr std::array<Format, 13> kFormats = {{{"csv", Kind::kTable},
                                              {"faq", Kind::kTable, TableForm::kFaq},
                                              {"jsonl", Kind::kJson, TableForm::kAny, JsonForm::kRows},
                                              {"alpaca", Kind::kJson, TableForm::kAny, JsonForm::kAlpaca},
                                              {"openai", Kind::kJson, TableForm::kAny, JsonForm::kMessages},
                                              {"rasa", Kind::kRasa},
                                              {".csv", Kind::kTable},
                                              {".tsv", Kind::kTable},
                                              {".jsonl", Kind::kJson},
                                              {".json", Kind::kJson},
                                              {".ndjson", Kind::kJson},
                                              {".yml", Kind::kRasa},
                                              {".yaml", Kind::kRasa}}};

// Of the rows without Han characters: below this share of all they are a Chinese pack's, as "WiFi" is.
constexpr double kStrayLatin = 0.2;
constexpr std::array<std::string_view, 5> kNegativeLabels = {"oos", "out_of_scope", "out-of-scope", "nlu_fallback",
                                                             "fallback"};

tl::unexpected<Error> bad(const std::string& what, std::string_view why) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("{}: {}", what, why), what);
}

Result<Format> format_of(const ImportOptions& options) {
  std::error_code error;
  std::string told = options.format;
  if (told.empty())
    told = fs::is_directory(options.source, error) ? "rasa" : fs::path(options.source).extension().string();
  const auto known = std::find_if(kFormats.begin(), kFormats.end(), [&](const Format& f) { return f.name == told; });
  const bool named = !options.format.empty();
  if (known != kFormats.end() && !(named && told.starts_with('.'))) return *known;
  if (named) return bad("--format " + told, "is not known; there are csv, faq, jsonl, alpaca, openai and rasa");
  return bad(options.source, "what is it? Name it with --format csv, faq, jsonl, alpaca, openai or rasa");
}

Result<std::vector<PackFile>> read_sources(const std::string& source, Kind kind) {
  std::error_code error;
  std::vector<std::string> paths;
  if (!fs::is_directory(source, error)) {
    paths.push_back(source);
  } else if (kind == Kind::kRasa) {
    for (fs::recursive_directory_iterator it(source, error), end; !error && it != end; it.increment(error)) {
      const std::string extension = it->path().extension().string();
      if (extension == ".yml" || extension == ".yaml") paths.push_back(it->path().string());
    }
    std::sort(paths.begin(), paths.end());
  }
  if (paths.empty()) return bad(source, "holds no .yml file; of other formats name the file");
  std::vector<PackFile> out;
  for (const std::string& path : paths) {
    TRY(std::string bytes, read_text_file(path));
    out.push_back({path, std::move(bytes)});
  }
  return out;
}

Result<Imported> read_source(const ImportOptions& options) {
  TRY(const Format format, format_of(options));
  if (format.kind != Kind::kTable && !options.columns.empty()) return bad("--columns", "only a table has columns");
  TRY(const std::vector<PackFile> files, read_sources(options.source, format.kind));
  if (format.kind == Kind::kRasa) return import_rasa(files);
  return format.kind == Kind::kTable ? import_table(files.front(), options.columns, format.table)
                                     : import_json(files.front(), format.json);
}

bool is_chinese(std::string_view s) { return text::detect_language(s) == text::Language::kChinese; }

// The languages that rows do not name themselves. What was only supposed is noted.
void settle_languages(std::vector<Row>& rows, const std::string& lang, std::vector<std::string>& notes) {
  size_t other = 0, open = 0;
  for (Row& row : rows) {
    if (!lang.empty()) row.lang = lang;
    for (const std::string_view known : {"zh", "en"}) {  // zh-CN, en_US
      const bool region = row.lang.size() > 2 && (row.lang[2] == '-' || row.lang[2] == '_');
      if (region && row.lang.starts_with(known)) row.lang = known;
    }
    if (!row.lang.empty()) continue;
    ++open;
    other += is_chinese(row.text.empty() ? row.answer : row.text) ? 0 : 1;
  }
  const bool stray = static_cast<double>(other) < kStrayLatin * static_cast<double>(open);
  for (Row& row : rows) {
    if (!row.lang.empty()) continue;
    row.lang = stray || is_chinese(row.text.empty() ? row.answer : row.text) ? "zh" : "en";
  }
  if (other == 0) return;
  notes.push_back(fmt::format("taken as {}: {} without a Chinese character; --lang sets it",
                              stray ? "Chinese" : "English", counted(other, "row")));
}

std::string escaped(std::string_view answer) {
  std::string out;
  for (const char c : answer) {
    if (c == '{' || c == '}') out += c;
    out += c;
  }
  return out;
}

// One answer, one intent, named after the first question it was given to.
void name_by_answer(Row& row, NameBook& names, std::unordered_map<std::string, std::string>& by_answer) {
  std::string& name = by_answer[row.lang + text::normalise(row.answer)];
  if (name.empty()) name = names.fresh(name_of_question(row.text));
  row.label = name;
}

void settle_names(std::vector<Row>& rows) {
  NameBook names;
  std::unordered_map<std::string, std::string> by_answer;
  for (Row& row : rows) {
    const bool negative = std::find(kNegativeLabels.begin(), kNegativeLabels.end(), row.label) != kNegativeLabels.end();
    if (negative) {
      row.label = kOutOfScope;
    } else if (!row.label.empty()) {
      row.label = names.of_label(row.label);
    }
  }
  for (Row& row : rows) {
    if (row.label.empty()) name_by_answer(row, names, by_answer);
  }
}

size_t drop_repeats(std::vector<Row>& rows) {
  std::unordered_set<std::string> seen;
  size_t dropped = 0;
  for (Row& row : rows) {
    if (row.text.empty() || seen.insert(row.lang + row.label + '\n' + row.text).second) continue;
    ++dropped;
    row.text.clear();  // its answer may still be new
  }
  return dropped;
}

void count(const Pack& pack, ImportReport& out) {
  out.intents = pack.intents.size();
  for (const PackIntent& intent : pack.intents) {
    for (const auto& [language, side] : intent.sides) {
      out.phrasings += side.phrasings.size();
      out.answers += side.answers.size();
    }
  }
  for (const auto& [language, texts] : pack.negatives) out.negatives += texts.size();
}

void note_faults(const std::vector<PackFault>& faults, std::vector<std::string>& notes) {
  const auto number = [&](std::string_view kind) {
    return std::count_if(faults.begin(), faults.end(), [&](const PackFault& one) { return one.kind == kind; });
  };
  for (const auto& [kind, what] : {std::pair{"missing", "intents without phrasings or answers in a language"},
                                   {"conflict", "phrasings that stand in two places"},
                                   {"answer", "answers that are no template"},
                                   {"classes", "languages with fewer than two intents"}}) {
    if (number(kind) > 0) notes.push_back(fmt::format("to mend before training: {} ({})", what, number(kind)));
  }
}

}  // namespace

Result<ImportedPack> pack_of_import(Imported imported, const std::string& lang, const std::string& name) {
  if (imported.rows.empty()) {
    return bad(name, fmt::format("nothing to import; {}", imported.notes.empty()
                                                              ? "no row with a text"
                                                              : fmt::to_string(fmt::join(imported.notes, "; "))));
  }
  settle_languages(imported.rows, lang, imported.notes);
  settle_names(imported.rows);
  if (!imported.templates) {
    for (Row& row : imported.rows) row.answer = escaped(row.answer);
  }
  drop_repeats(imported.rows);
  TRY(Pack pack, pack_of_rows(imported.rows, name));
  std::sort(pack.intents.begin(), pack.intents.end(),
            [](const PackIntent& a, const PackIntent& b) { return a.name.text < b.name.text; });
  std::sort(pack.languages.begin(), pack.languages.end());
  pack.name = name;
  return ImportedPack{std::move(pack), std::move(imported.notes)};
}

Result<ImportReport> import_pack(const ImportOptions& options) {
  if (!options.lang.empty() && !text::language_named(options.lang)) {
    return bad("--lang " + options.lang, fmt::format("is not known; it is {}", kLanguageNames));
  }
  std::string folder = options.out;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  TRY(Imported imported, read_source(options));
  const size_t rows = imported.rows.size();
  TRY(ImportedPack made, pack_of_import(std::move(imported), options.lang, fs::path(folder).filename().string()));
  made.pack.description = fmt::format("Imported from {}", fs::path(options.source).filename().string());
  TRY_OK(write_pack(made.pack, folder));
  TRY(const Pack written, read_unchecked_pack(folder));
  ImportReport out{folder};
  count(written, out);
  out.notes = std::move(made.notes);
  if (out.phrasings + out.negatives < rows) {
    out.notes.push_back(
        fmt::format("repeats, but perhaps for their answer: {}", counted(rows - out.phrasings - out.negatives, "row")));
  }
  note_faults(find_faults(written), out.notes);
  return out;
}

std::string ImportReport::table() const {
  std::string out =
      fmt::format("{}: {}, {}, {}, {}\n", folder, counted(intents, "intent"), counted(phrasings, "phrasing"),
                  counted(answers, "answer"), counted(negatives, "negative"));
  for (const std::string& note : notes) out += fmt::format("  {}\n", note);
  return out + fmt::format("Look it over with `hengshi pack lint {}`, then train it.", folder);
}

}  // namespace hengshi::train
