#include "base/toml_words.h"

#include <gtest/gtest.h>

namespace hengshi {
namespace {

constexpr std::string_view kText = "[a]\nx = 1\n[ b.c ]\nx = 2\nx = 3\n[b.c]\n";

TEST(TomlWords, SayWhereTheFirstOneIs) {
  EXPECT_EQ(toml_words("Error while parsing table header: cannot redefine existing table 'b.c'", kText, 6),
            "[b.c] is there already in line 3: write its keys there and take this line out");
  EXPECT_EQ(toml_words("Error while parsing key-value pair: cannot redefine existing integer 'x'", kText, 5),
            "x is there already in line 4: keep one of the two");
  EXPECT_EQ(
      toml_words("Error while parsing table header: cannot redefine existing table 'a' as array-of-tables", kText, 6),
      "'a' is there already in line 1 and is no array-of-tables");
}

TEST(TomlWords, LeaveTheRestAsItIs) {
  for (const std::string_view other :
       {"", "expected '=', saw 'x'", "cannot redefine existing table as dotted key-value pair",
        "cannot redefine existing string 'x"}) {
    EXPECT_EQ(toml_words(other, kText, 1), other);
  }
  EXPECT_EQ(toml_words("cannot redefine existing string 'y'", kText, 99), "y is there already: keep one of the two");
}

}  // namespace
}  // namespace hengshi
