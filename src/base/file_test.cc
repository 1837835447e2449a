#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>

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

namespace fs = std::filesystem;

TEST(File, IsWrittenWholeAndNothingElseIsLeft) {
  const TempFolder folder;
  ASSERT_TRUE(write_whole(folder / "f", {"one", " ", "two"}));
  EXPECT_EQ(folder.read("f"), "one two");
  fs::permissions(folder / "f", fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_TRUE(write_whole(folder / "f", {"three"}));
  EXPECT_EQ(folder.read("f"), "three");
  EXPECT_EQ(fs::status(folder / "f").permissions(), fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 1);
}

TEST(File, ThatCannotBeWrittenStaysAsItWas) {
  const TempFolder folder;
  folder.write("f", "before");
  fs::create_directory(folder / "f.part");
  const auto written = write_whole(folder / "f", {"after"});
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find(folder / "f: cannot be written: "), std::string::npos);
  EXPECT_EQ(folder.read("f"), "before");
  EXPECT_FALSE(write_whole(folder / "none/f", {"x"}));
  EXPECT_FALSE(write_whole(folder.path(), {"x"}));
}

TEST(File, ALinkStaysALinkAndADeviceADevice) {
  const TempFolder folder;
  folder.write("target", "before");
  fs::create_symlink("target", folder / "link");
  fs::create_symlink("/dev/null", folder / "null");
  ASSERT_TRUE(write_whole(folder / "link", {"after"}));
  EXPECT_EQ(folder.read("target"), "after");
  ASSERT_TRUE(write_whole(folder / "null", {"nothing"}));
  for (const char* name : {"link", "null"}) EXPECT_TRUE(fs::is_symlink(folder / name)) << name;
}

}  // namespace
}  // namespace hengshi
