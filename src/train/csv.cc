#include "train/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/text.h"
#include "train/rows.h"

namespace hengshi::train {

namespace {

char delimiter_of(std::string_view bytes) {
  const std::string_view first = bytes.substr(0, bytes.find('\n'));
  char best = ',';
  for (const char candidate : {'\t', ';'}) {
    if (std::count(first.begin(), first.end(), candidate) > std::count(first.begin(), first.end(), best)) {
      best = candidate;
    }
  }
  return best;
}

class Reader {
 public:
  Reader(std::string_view bytes, const std::string& file) : s_(bytes), file_(file), delimiter_(delimiter_of(bytes)) {}

  Result<std::vector<CsvRecord>> read() {
    std::vector<CsvRecord> out;
    while (at_ < s_.size()) {
      TRY(CsvRecord record, this->record());
      if (record.fields.size() == 1 && record.fields.front().empty()) continue;  // an empty line
      if (!out.empty() && record.fields.size() != out.front().fields.size()) {
        return fault(
            file_, record.line,
            fmt::format("{} fields where the first line has {}; put a field that holds the delimiter in quotes",
                        record.fields.size(), out.front().fields.size()));
      }
      out.push_back(std::move(record));
    }
    return out;
  }

 private:
  Result<CsvRecord> record() {
    CsvRecord out;
    out.line = line_;
    while (true) {
      TRY(out.fields.emplace_back(), field());
      if (at_ >= s_.size()) return out;
      const char c = s_[at_++];
      if (c == delimiter_) continue;
      if (c == '\r' && at_ < s_.size() && s_[at_] == '\n') ++at_;
      ++line_;
      return out;
    }
  }

  bool ends_field(char c) const { return c == delimiter_ || c == '\n' || c == '\r'; }

  Result<std::string> field() {
    if (at_ < s_.size() && s_[at_] == '"') return quoted();
    const size_t from = at_;
    while (at_ < s_.size() && !ends_field(s_[at_])) {
      if (s_[at_] == '"')
        return fault(file_, line_, "a quote amid a field; put the whole field in quotes and double it");
      ++at_;
    }
    return std::string(s_.substr(from, at_ - from));
  }

  Result<std::string> quoted() {
    const uint32_t opened = line_;
    std::string out;
    for (++at_; at_ < s_.size(); ++at_) {
      if (s_[at_] == '\n') ++line_;
      if (s_[at_] != '"') {
        out += s_[at_];
      } else if (at_ + 1 < s_.size() && s_[at_ + 1] == '"') {
        out += '"';
        ++at_;
      } else {
        ++at_;
        if (at_ < s_.size() && !ends_field(s_[at_])) {
          return fault(file_, line_, "text behind a closing quote; double the quotes inside a field");
        }
        return out;
      }
    }
    return fault(file_, opened, "a quote that is not closed");
  }

  std::string_view s_;
  const std::string& file_;
  char delimiter_;
  size_t at_ = 0;
  uint32_t line_ = 1;
};

}  // namespace

Result<std::vector<CsvRecord>> parse_csv(std::string_view bytes, const std::string& file) {
  TRY_OK(check_utf8(bytes, file));
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  return Reader(bytes, file).read();
}

void append_csv_field(std::string& out, std::string_view field) {
  const bool plain = field.find_first_of(",;\t\"\r\n") == std::string_view::npos;
  if (plain) {
    out += field;
    return;
  }
  out += '"';
  for (const char c : field) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace hengshi::train
