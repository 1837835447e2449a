#include "train/rows.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "text/text.h"

namespace hengshi::train {

namespace {

constexpr const char* kShape = R"(write {"text": "…", "label": "…"})";

class LineReader {
 public:
  LineReader(const std::string& file, OtherKeys other_keys) : file_(file), other_keys_(other_keys) {}

  Result<Row> read(std::string_view line, uint32_t number) {
    simdjson::dom::object object;
    if (!text::valid_utf8(line)) return fault(file_, number, "not UTF-8; save the file as UTF-8");
    if (parser_.parse(line.data(), line.size()).get(object) != simdjson::SUCCESS) {
      return fault(file_, number, fmt::format("not a JSON object; {}", kShape));
    }
    Row row;
    row.line = number;
    for (const auto& [key, value] : object) TRY_OK(take(row, key, value));
    if (row.text.empty()) return fault(file_, number, fmt::format("no text; {}", kShape));
    if (row.label.empty()) return fault(file_, number, fmt::format("no label; {}", kShape));
    return row;
  }

 private:
  Result<void> take(Row& row, std::string_view key, simdjson::dom::element value) const {
    std::string* into = key == "text"     ? &row.text
                        : key == "label"  ? &row.label
                        : key == "answer" ? &row.answer
                        : key == "lang"   ? &row.lang
                                          : nullptr;
    if (into == nullptr) {
      if (other_keys_ == OtherKeys::kIgnored) return {};
      return fault(file_, row.line, fmt::format("unknown key '{}'; a row has text, label, answer and lang", key));
    }
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return fault(file_, row.line, fmt::format("'{}' must be text", key));
    *into = text;
    return {};
  }

  const std::string& file_;
  OtherKeys other_keys_;
  simdjson::dom::parser parser_;
};

}  // namespace

tl::unexpected<Error> fault(const std::string& file, uint32_t line, std::string_view why) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("{}:{}: {}", file, line, why), file);
}

Result<void> check_utf8(std::string_view bytes, const std::string& file) {
  uint32_t line = 1;
  for (size_t from = 0; from < bytes.size(); ++line) {
    const size_t end = std::min(bytes.find('\n', from), bytes.size());
    if (!text::valid_utf8(bytes.substr(from, end - from))) {
      return fault(file, line, "not UTF-8; save the file as UTF-8");
    }
    from = end + 1;
  }
  return {};
}

Result<std::vector<Row>> parse_rows(std::string_view jsonl, const std::string& file, OtherKeys other_keys) {
  std::vector<Row> out;
  LineReader reader(file, other_keys);
  uint32_t number = 0;
  if (jsonl.starts_with("\xEF\xBB\xBF")) jsonl.remove_prefix(3);
  while (!jsonl.empty()) {
    const size_t end = std::min(jsonl.find('\n'), jsonl.size());
    const std::string_view line = jsonl.substr(0, end);
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      TRY(Row row, reader.read(line, number));
      out.push_back(std::move(row));
    }
    jsonl.remove_prefix(std::min(end + 1, jsonl.size()));
  }
  if (out.empty()) return fault(file, 1, fmt::format("no rows; {}, one per line", kShape));
  return out;
}

Result<text::Language> language_of_row(const Row& row, const std::string& file) {
  if (row.lang.empty()) {
    const bool chinese = text::detect_language(row.text) == text::Language::kChinese;
    return chinese ? text::Language::kChinese : text::Language::kEnglish;
  }
  if (const auto named = text::language_named(row.lang)) return *named;
  return fault(file, row.line, fmt::format("language '{}' is not known; it is {}", row.lang, kLanguageNames));
}

Result<std::string> read_text_file(const std::string& file) {
  std::error_code error;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, error)) {
    return fail(ErrorCode::kNotFound, fmt::format("{}: cannot be read; is the path right?", file), file);
  }
  return std::string(std::istreambuf_iterator<char>(in), {});
}

Result<std::vector<Row>> read_rows(const std::string& file, OtherKeys other_keys) {
  TRY(const std::string bytes, read_text_file(file));
  return parse_rows(bytes, file, other_keys);
}

}  // namespace hengshi::train
