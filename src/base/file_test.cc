#include "base/file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace hengshi {
namespace {

TEST(File, ReadsAFileAndRefusesTheRest) {
  const auto folder = std::filesystem::temp_directory_path() / "hengshi-file-test";
  std::filesystem::create_directories(folder);
  const std::string path = (folder / "f").string();
  std::ofstream(path, std::ios::binary) << std::string("a\0b\n", 4);
  EXPECT_EQ(*read_file(path), std::string("a\0b\n", 4));
  std::ofstream(path, std::ios::binary | std::ios::trunc).flush();
  EXPECT_EQ(*read_file(path), "");
  EXPECT_NE(read_file(folder.string()).error().message.find("is no file"), std::string::npos);
  EXPECT_NE(read_file((folder / "none").string()).error().message.find("is not there"), std::string::npos);
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace hengshi
