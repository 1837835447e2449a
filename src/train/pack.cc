#include "train/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/digest.h"
#include "train/pack_check.h"
#include "train/pack_toml.h"

namespace hengshi::train {

namespace {

namespace fs = std::filesystem;

// Every file under one of the two folders, in the order of their names.
Result<void> list_files(const fs::path& folder, const char* inner, std::vector<PackFile>& into) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder / inner, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".toml") paths.push_back(it->path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    TRY(std::string bytes, read_text_file(path.string()));
    into.push_back({(fs::path(inner) / path.filename()).string(), std::move(bytes)});
  }
  return {};
}

Result<Pack> unchecked_pack(const std::vector<PackFile>& files, const std::string& where) {
  Pack pack;
  pack.where = where;
  std::string all;
  for (const PackFile& file : files) {
    all += fmt::format("{}\n{}\n{}\n", file.name, file.bytes.size(), file.bytes);
    const PackFile named{fmt::format("{}/{}", where, file.name), file.bytes};
    if (&file == &files.front()) {
      TRY_OK(read_pack_toml(named, pack));
    } else if (file.name.starts_with("intents/")) {
      TRY_OK(read_intents_toml(named, pack));
    } else {
      TRY_OK(read_negatives_toml(named, pack));
    }
  }
  pack.digest = sha256_hex(all);
  return pack;
}

Result<Pack> unchecked_jsonl_pack(const PackFile& file) {
  TRY(const std::vector<Row> rows, parse_rows(file.bytes, file.name, OtherKeys::kRefused));
  TRY(Pack pack, pack_of_rows(rows, file.name));
  pack.name = fs::path(file.name).stem().string();
  pack.digest = sha256_hex(file.bytes);
  return pack;
}

void add_row(const Row& row, const std::string& file, text::Language language, PackIntent& into) {
  Side& side = into.sides[language];
  if (!row.text.empty()) side.phrasings.push_back({row.text, file, row.line});
  const auto same = [&](const Located& known) { return known.text == row.answer; };
  if (!row.answer.empty() && std::none_of(side.answers.begin(), side.answers.end(), same)) {
    side.answers.push_back({row.answer, file, row.line});
  }
}

}  // namespace

Result<Pack> pack_of_rows(const std::vector<Row>& rows, const std::string& file) {
  Pack pack;
  pack.where = file;
  std::unordered_map<std::string, size_t> by_label;
  for (const Row& row : rows) {
    TRY(const text::Language language, language_of_row(row, file));
    if (std::find(pack.languages.begin(), pack.languages.end(), language) == pack.languages.end()) {
      pack.languages.push_back(language);
    }
    if (row.label == kOutOfScope) {
      if (!row.text.empty()) pack.negatives[language].push_back({row.text, file, row.line});
      continue;
    }
    const auto [at_label, is_new] = by_label.emplace(row.label, pack.intents.size());
    if (is_new) pack.intents.push_back({{row.label, file, row.line}, {}, {}});
    add_row(row, file, language, pack.intents[at_label->second]);
  }
  return pack;
}

Result<Pack> parse_pack(const std::vector<PackFile>& files, const std::string& where) {
  TRY(Pack pack, unchecked_pack(files, where));
  TRY_OK(check_pack(pack));
  return pack;
}

Result<Pack> parse_jsonl_pack(const PackFile& file) {
  TRY(Pack pack, unchecked_jsonl_pack(file));
  TRY_OK(check_pack(pack));
  return pack;
}

Result<Pack> read_unchecked_pack(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    TRY(std::string bytes, read_text_file(path));
    return unchecked_jsonl_pack({path, std::move(bytes)});
  }
  const std::string main_file = path + "/pack.toml";
  std::vector<PackFile> files;
  auto bytes = read_text_file(main_file);
  if (!bytes) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: cannot be read; a pack is a folder with pack.toml, or a JSONL file", main_file),
                main_file);
  }
  files.push_back({"pack.toml", std::move(*bytes)});
  TRY_OK(list_files(path, "intents", files));
  TRY_OK(list_files(path, "negatives", files));
  return unchecked_pack(files, path);
}

Result<Pack> read_pack(const std::string& path) {
  TRY(Pack pack, read_unchecked_pack(path));
  TRY_OK(check_pack(pack));
  return pack;
}

std::vector<const PackIntent*> intents_in(const Pack& pack, text::Language language) {
  std::vector<const PackIntent*> out;
  for (const PackIntent& intent : pack.intents) {
    if (intent.sides.contains(language)) out.push_back(&intent);
  }
  return out;
}

std::vector<light::IntentAnswers> answers_in(const Pack& pack, text::Language language) {
  std::vector<light::IntentAnswers> out;
  for (const PackIntent* intent : intents_in(pack, language)) {
    light::IntentAnswers one{intent->name.text, {}, {}};
    for (const Located& answer : intent->sides.at(language).answers) one.answers.push_back(answer.text);
    for (const auto& [name, slot] : intent->slots) {
      light::SlotSource& source = one.slots[name] = slot.source;
      if (const auto ask = slot.asks.find(language); ask != slot.asks.end()) source.ask = ask->second.text;
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace hengshi::train
