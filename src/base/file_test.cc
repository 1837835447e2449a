#include "base/file.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace hengshi {
namespace {

TEST(File, ReadsAFileAndRefusesTheRest) {
  const TempFolder folder;
  EXPECT_EQ(*read_file(folder.write("f", std::string("a\0b\n", 4))), std::string("a\0b\n", 4));
  EXPECT_EQ(*read_file(folder.write("f", "")), "");
  EXPECT_NE(read_file(folder.path()).error().message.find("is no file"), std::string::npos);
  EXPECT_NE(read_file(folder / "none").error().message.find("is not there"), std::string::npos);
}

}  // namespace
}  // namespace hengshi
