#include "train/pack.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>

#include "base/digest.h"
#include "text/slots.h"
#include "train/pack_toml.h"
#include "train/rows.h"

namespace hengshi::train {

namespace {

namespace fs = std::filesystem;

std::string at(const Located& where) { return fmt::format("{}:{}", where.file, where.line); }

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

Result<text::Language> language_of_row(const Row& row, const std::string& file) {
  if (row.lang == "zh") return text::Language::kChinese;
  if (row.lang == "en") return text::Language::kEnglish;
  if (!row.lang.empty())
    return fault(file, row.line, fmt::format("language '{}' is not known; it is zh or en", row.lang));
  return text::detect_language(row.text) == text::Language::kChinese ? text::Language::kChinese
                                                                     : text::Language::kEnglish;
}

// Where each normal form stands, to find it in two places.
class Places {
 public:
  Result<void> add(const Located& phrasing, std::string_view owner) {
    const auto [place, is_new] = seen_.emplace(text::normalise(phrasing.text), std::pair(&phrasing, owner));
    const auto& [earlier, earlier_owner] = place->second;
    if (is_new || earlier_owner == owner) return {};
    return fault(phrasing.file, phrasing.line,
                 fmt::format("\"{}\" stands for {} and, in {}, for {}; keep it in one of them", phrasing.text,
                             named(owner), at(*earlier), named(earlier_owner)));
  }

 private:
  static std::string named(std::string_view owner) {
    return owner.empty() ? "a negative" : fmt::format("intent {}", owner);
  }
  std::unordered_map<std::string, std::pair<const Located*, std::string_view>> seen_;
};

Result<void> check_names(const Pack& pack) {
  std::unordered_map<std::string_view, const Located*> names;
  for (const PackIntent& intent : pack.intents) {
    const auto [earlier, is_new] = names.emplace(intent.name.text, &intent.name);
    if (is_new) continue;
    return fault(intent.name.file, intent.name.line,
                 fmt::format("intent {} is already in {}; give one of them another name", intent.name.text,
                             at(*earlier->second)));
  }
  return {};
}

Result<void> check_answers(const PackIntent& intent) {
  for (const auto& [name, pattern] : intent.slots) {
    if (const auto compiled = light::compile_slot(pattern.text); !compiled) {
      return fault(pattern.file, pattern.line, fmt::format("slot {}: {}", name, compiled.error().message));
    }
  }
  for (const auto& [language, side] : intent.sides) {
    for (const Located& answer : side.answers) {
      const auto parsed = text::Template::parse(answer.text);
      if (!parsed) return fault(answer.file, answer.line, fmt::format("answer: {}", parsed.error().message));
      for (const std::string& name : parsed->names()) {
        if (intent.slots.contains(name)) continue;
        return fault(
            answer.file, answer.line,
            fmt::format("answer uses {{{}}}, which nothing fills; add [intent.slots.{}] with a pattern", name, name));
      }
    }
  }
  return {};
}

Result<void> check_side(const PackIntent& intent, text::Language language, const Side& side) {
  const auto missing = [&](const char* what) {
    const std::string_view name = text::language_name(language);
    return fault(intent.name.file, intent.name.line,
                 fmt::format("intent {} has no {} in {}; add them under [intent.{}], or to its JSONL rows",
                             intent.name.text, what, name, name));
  };
  if (side.phrasings.empty()) return missing("phrasings");
  if (side.answers.empty()) return missing("answers");
  return {};
}

Result<void> check_language(const Pack& pack, text::Language language) {
  const std::string_view name = text::language_name(language);
  Places places;
  size_t intents = 0;
  for (const PackIntent& intent : pack.intents) {
    const auto side = intent.sides.find(language);
    if (side == intent.sides.end()) continue;
    ++intents;
    TRY_OK(check_side(intent, language, side->second));
    for (const Located& phrasing : side->second.phrasings) TRY_OK(places.add(phrasing, intent.name.text));
  }
  if (intents == 0)
    return fault(pack.where, 1, fmt::format("no intents in {}; add some, or take {} out of its languages", name, name));
  if (intents == 1) return fault(pack.where, 1, fmt::format("one intent only in {}; a classifier needs two", name));
  const auto negatives = pack.negatives.find(language);
  if (negatives == pack.negatives.end()) return {};
  for (const Located& negative : negatives->second) TRY_OK(places.add(negative, ""));
  return {};
}

}  // namespace

Result<void> check_pack(const Pack& pack) {
  TRY_OK(check_names(pack));
  for (const PackIntent& intent : pack.intents) TRY_OK(check_answers(intent));
  for (const text::Language language : pack.languages) TRY_OK(check_language(pack, language));
  return {};
}

Result<Pack> parse_pack(const std::vector<PackFile>& files, const std::string& where) {
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
  TRY_OK(check_pack(pack));
  return pack;
}

Result<Pack> parse_jsonl_pack(const PackFile& file) {
  Pack pack;
  pack.where = file.name;
  pack.name = fs::path(file.name).stem().string();
  pack.digest = sha256_hex(file.bytes);
  TRY(const std::vector<Row> rows, parse_rows(file.bytes, file.name, OtherKeys::kRefused));
  std::unordered_map<std::string, size_t> by_label;
  for (const Row& row : rows) {
    TRY(const text::Language language, language_of_row(row, file.name));
    if (std::find(pack.languages.begin(), pack.languages.end(), language) == pack.languages.end()) {
      pack.languages.push_back(language);
    }
    const Located phrasing{row.text, file.name, row.line};
    if (row.label == kOutOfScope) {
      pack.negatives[language].push_back(phrasing);
      continue;
    }
    const auto [at_label, is_new] = by_label.emplace(row.label, pack.intents.size());
    if (is_new) pack.intents.push_back({{row.label, file.name, row.line}, {}, {}});
    Side& side = pack.intents[at_label->second].sides[language];
    side.phrasings.push_back(phrasing);
    const auto same = [&](const Located& known) { return known.text == row.answer; };
    if (!row.answer.empty() && std::none_of(side.answers.begin(), side.answers.end(), same)) {
      side.answers.push_back({row.answer, file.name, row.line});
    }
  }
  TRY_OK(check_pack(pack));
  return pack;
}

Result<Pack> read_pack(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) {
    TRY(std::string bytes, read_text_file(path));
    return parse_jsonl_pack({path, std::move(bytes)});
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
  return parse_pack(files, path);
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
    for (const auto& [name, pattern] : intent->slots) one.slots.emplace(name, pattern.text);
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace hengshi::train
