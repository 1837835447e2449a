// csv.h — tables as RFC 4180 has them: fields in quotes may hold commas, line ends and doubled quotes.
//
// Shapes:  records of as many fields as the first; `line` is where a record begins, from 1. A byte order mark is
//          skipped; empty lines are none.
// Errors:  kInvalidRequest "file:line: …": not UTF-8, a quote that is not closed or stands amid a field, a record of
//          another number of fields.
// Threads: pure.
// Source:  RFC 4180.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi::train {

struct CsvRecord {
  std::vector<std::string> fields;
  uint32_t line = 0;
};

// The delimiter is whichever of comma, tab and semicolon the first line holds most of.
Result<std::vector<CsvRecord>> parse_csv(std::string_view bytes, const std::string& file);

// A field as it stands in a table, in quotes where it must be.
void append_csv_field(std::string& out, std::string_view field);

}  // namespace hengshi::train
