#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "text/text.h"
#include "train/csv.h"
#include "train/pack_sources.h"

namespace hengshi::train {

namespace {

enum Role : uint8_t { kText, kLabel, kAnswer, kLang, kRoles };

constexpr std::array<std::string_view, kRoles> kNames = {"text", "label", "answer", "lang"};
// What a column of each role is called elsewhere.
constexpr std::array<std::array<std::string_view, 11>, kRoles> kAlso = {{
    {"text", "question", "utterance", "query", "phrasing", "sentence", "问题", "问法", "问", "标准问题", "文本"},
    {"label", "intent", "category", "class", "intent_name", "意图", "标签", "分类", "类别", "", ""},
    {"answer", "response", "reply", "output", "答案", "回答", "回复", "答", "答复", "标准答案", ""},
    {"lang", "language", "locale", "语言", "", "", "", "", "", "", ""},
}};

using Columns = std::array<std::optional<size_t>, kRoles>;

struct Layout {
  Columns columns;
  bool header = true;
};

std::string list_of(const std::vector<std::string>& fields) {
  std::string out;
  for (const std::string& field : fields) out += (out.empty() ? "" : ", ") + field;
  return out;
}

std::optional<Role> role_of(std::string_view name) {
  const auto at = std::find(kNames.begin(), kNames.end(), name);
  return at == kNames.end() ? std::nullopt : std::optional(static_cast<Role>(at - kNames.begin()));
}

tl::unexpected<Error> bad_columns(const std::string& columns) {
  return fail(ErrorCode::kInvalidRequest,
              fmt::format("--columns {}: write it as text=Question,label=Intent,answer=Answer (names of columns, or "
                          "their numbers from 1 in a file without names)",
                          columns),
              "columns");
}

std::optional<size_t> find_column(const std::vector<std::string>& header, std::string_view name) {
  const auto at = std::find(header.begin(), header.end(), name);
  return at == header.end() ? std::nullopt : std::optional(static_cast<size_t>(at - header.begin()));
}

std::optional<size_t> number(std::string_view name) {
  size_t out = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), out);
  return error == std::errc() && end == name.data() + name.size() && out > 0 ? std::optional(out - 1) : std::nullopt;
}

Result<Layout> named_layout(const std::string& columns, const CsvRecord& first, const std::string& file) {
  Layout out;
  size_t numbers = 0, all = 0;
  for (size_t at = 0; at < columns.size(); ++all) {
    const size_t end = std::min(columns.find(',', at), columns.size());
    const std::string_view one = std::string_view(columns).substr(at, end - at);
    const size_t equals = one.find('=');
    const auto role = role_of(one.substr(0, std::min(equals, one.size())));
    if (!role || equals == std::string_view::npos) return bad_columns(columns);
    const std::string_view name = one.substr(equals + 1);
    out.columns[*role] = find_column(first.fields, name);
    if (!out.columns[*role]) {
      const auto place = number(name);
      if (!place || *place >= first.fields.size()) {
        return fault(file, first.line, fmt::format("no column '{}'; there are {}", name, list_of(first.fields)));
      }
      out.columns[*role] = place;
      ++numbers;
    }
    at = end + 1;
  }
  if (numbers > 0 && numbers < all) return bad_columns(columns);
  out.header = numbers == 0;
  return out;
}

Layout header_layout(const CsvRecord& first) {
  Layout out;
  for (size_t column = 0; column < first.fields.size(); ++column) {
    const std::string name = text::normalise(first.fields[column]);
    for (size_t role = 0; role < kRoles; ++role) {
      const auto& known = kAlso[role];
      const bool is = !name.empty() && std::find(known.begin(), known.end(), name) != known.end();
      if (is && !out.columns[role]) out.columns[role] = column;
    }
  }
  return out;
}

std::string field(const CsvRecord& record, const std::optional<size_t>& column) {
  return column ? record.fields[*column] : std::string();
}

}  // namespace

Result<Imported> import_table(const PackFile& file, const std::string& columns, TableForm form) {
  TRY(const std::vector<CsvRecord> records, parse_csv(file.bytes, file.name));
  if (records.empty()) return fault(file.name, 1, "no rows; the first line names the columns: text,label,answer");
  const CsvRecord& first = records.front();
  Layout layout = header_layout(first);
  if (!columns.empty()) {
    TRY(layout, named_layout(columns, first, file.name));
  }
  if (!layout.columns[kText] || (!layout.columns[kLabel] && !layout.columns[kAnswer])) {
    return fault(file.name, first.line,
                 fmt::format("no columns text and label, nor question and answer, but {}; name them with --columns "
                             "text=…,label=…,answer=…",
                             list_of(first.fields)));
  }
  if (form == TableForm::kFaq && (layout.columns[kLabel] || !layout.columns[kAnswer])) {
    return fault(file.name, first.line,
                 "a FAQ has questions and answers, no labels; leave --format faq out, or name its "
                 "columns with --columns text=…,answer=…");
  }
  Imported out;
  LeftOut without_text, without_either;
  for (size_t i = layout.header ? 1 : 0; i < records.size(); ++i) {
    const CsvRecord& record = records[i];
    Row row{field(record, layout.columns[kText]), field(record, layout.columns[kLabel]),
            field(record, layout.columns[kAnswer]), field(record, layout.columns[kLang]), record.line};
    if (row.text.empty()) {
      without_text.add(record.line);
    } else if (row.label.empty() && row.answer.empty()) {
      without_either.add(record.line);
    } else {
      out.rows.push_back(std::move(row));
    }
  }
  without_text.note("rows without text", "line", out.notes);
  without_either.note(layout.columns[kLabel] ? "rows with neither label nor answer" : "rows without an answer", "line",
                      out.notes);
  return out;
}

}  // namespace hengshi::train
