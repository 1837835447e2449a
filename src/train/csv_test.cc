#include "train/csv.h"

#include <gtest/gtest.h>

namespace hengshi::train {
namespace {

std::string joined(std::string_view bytes) {
  const auto records = parse_csv(bytes, "t.csv");
  if (!records) return records.error().message;
  std::string out;
  for (const CsvRecord& record : *records) {
    out += std::to_string(record.line) + ":";
    for (const std::string& field : record.fields) out += "[" + field + "]";
    out += " ";
  }
  return out;
}

TEST(Csv, ReadsWhatRfc4180Says) {
  EXPECT_EQ(joined("a,b\r\nc,d\r\n"), "1:[a][b] 2:[c][d] ");
  EXPECT_EQ(joined("a,b\nc,d"), "1:[a][b] 2:[c][d] ");
  EXPECT_EQ(joined("\xEF\xBB\xBF"
                   "a,b\n\n,\n"),
            "1:[a][b] 3:[][] ");
  EXPECT_EQ(joined("\"a,\"\"b\"\"\",\"two\nlines\"\nc,d\n"), "1:[a,\"b\"][two\nlines] 3:[c][d] ");
  EXPECT_EQ(joined("a\tb,c\td\ne\tf\tg\n"), "1:[a][b,c][d] 2:[e][f][g] ");
  EXPECT_EQ(joined("a;b\n\"c;\";d\n"), "1:[a][b] 2:[c;][d] ");
  EXPECT_EQ(joined(""), "");
}

TEST(Csv, FaultsNameTheLine) {
  EXPECT_EQ(joined("a,b\nc\n"),
            "t.csv:2: 1 fields where the first line has 2; put a field that holds the delimiter in quotes");
  EXPECT_EQ(joined("a,b\n\"c,d\n\n"), "t.csv:2: a quote that is not closed");
  EXPECT_EQ(joined("a,b\nc\"x,d\n"), "t.csv:2: a quote amid a field; put the whole field in quotes and double it");
  EXPECT_EQ(joined("a,b\n\"c\"x,d\n"), "t.csv:2: text behind a closing quote; double the quotes inside a field");
  EXPECT_EQ(joined("a,b\n\xff,d\n"), "t.csv:2: not UTF-8; save the file as UTF-8");
}

TEST(Csv, WhatIsWrittenIsReadAgain) {
  for (const char* field : {"plain", "a,b", "say \"x\"", "two\nlines", "半角;分号", ""}) {
    std::string out = "x,";
    append_csv_field(out, field);
    const auto records = parse_csv(out + "\r\n", "t.csv");
    ASSERT_TRUE(records) << records.error().message;
    EXPECT_EQ(records->front().fields[1], field);
  }
}

}  // namespace
}  // namespace hengshi::train
