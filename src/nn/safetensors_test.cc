#include "nn/safetensors.h"

#include <gtest/gtest.h>

#include <limits>

#include "nn/test_model.h"

namespace hengshi::nn {
namespace {

std::string small_file() { return safetensors_bytes({{"w", {{2, 3}, {1, 2, 3, 4, 5, 6}}}, {"b", {{2}, {7, 8}}}}); }

std::string with_header(const std::string& header, const std::string& data) {
  std::string out(8, '\0');
  for (size_t i = 0; i < 2; ++i) out[i] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return out + header + data;
}

std::string parse_error(std::string_view bytes) {
  const auto made = Safetensors::parse(bytes, "dir/model.safetensors");
  return made ? "accepted" : made.error().message;
}

TEST(SafetensorsTest, ReadsTensorsByNameAndShape) {
  const std::string bytes = small_file();
  const auto file = Safetensors::parse(bytes, "m");
  ASSERT_TRUE(file.has_value());
  const auto w = file->tensor("w", std::vector<size_t>{2, 3});
  ASSERT_TRUE(w.has_value());
  EXPECT_EQ((*w)[5], 6);
  EXPECT_TRUE(file->has("b"));
  EXPECT_FALSE(file->has("c"));
}

TEST(SafetensorsTest, NamesTheTensorAndWhatIsWrongWithIt) {
  const std::string bytes = safetensors_bytes({{"w", {{2}, {1, std::numeric_limits<float>::quiet_NaN()}}},
                                               {"i", {{1}, {std::numeric_limits<float>::infinity()}}}});
  const auto file = Safetensors::parse(bytes, "dir/model.safetensors");
  ASSERT_TRUE(file.has_value());
  const auto message = [&](const std::string& name, std::vector<size_t> shape) {
    return file->tensor(name, shape).error().message;
  };
  EXPECT_NE(message("w", {2}).find("tensor w holds a value that is not finite"), std::string::npos);
  EXPECT_NE(message("i", {1}).find("not finite"), std::string::npos);
  EXPECT_NE(message("w", {3}).find("has shape [2], config.json asks for [3]"), std::string::npos);
  EXPECT_NE(message("x", {2}).find("tensor x is missing"), std::string::npos);
  EXPECT_NE(message("x", {2}).find("dir/model.safetensors"), std::string::npos);
}

TEST(SafetensorsTest, RefusesEveryTruncation) {
  const std::string bytes = small_file();
  for (size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_NE(parse_error(std::string_view(bytes).substr(0, n)), "accepted") << n;
  }
}

TEST(SafetensorsTest, RefusesAHeaderThatLies) {
  EXPECT_NE(parse_error(std::string(8, '\xff')).find("does not fit"), std::string::npos);
  EXPECT_NE(parse_error(with_header("nonsense", "")).find("no JSON"), std::string::npos);
  EXPECT_NE(parse_error(with_header(R"({"w":{}})", "")).find("lacks"), std::string::npos);
  EXPECT_NE(
      parse_error(with_header(R"({"w":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", "abcd")).find("outside"),
      std::string::npos);
  EXPECT_NE(
      parse_error(with_header(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", "abcd")).find("whole"),
      std::string::npos);
}

TEST(SafetensorsTest, RefusesAShapeThatDoesNotMatchItsBytesOrItsType) {
  const std::string bytes = with_header(R"({"w":{"dtype":"F32","shape":[3],"data_offsets":[0,8]},)"
                                        R"("h":{"dtype":"F16","shape":[2],"data_offsets":[0,4]}})",
                                        "abcdefgh");
  const auto file = Safetensors::parse(bytes, "m");
  ASSERT_TRUE(file.has_value());
  EXPECT_NE(file->tensor("w", std::vector<size_t>{3}).error().message.find("wrong number of bytes"), std::string::npos);
  EXPECT_NE(file->tensor("h", std::vector<size_t>{2}).error().message.find("float32"), std::string::npos);
}

TEST(SafetensorsTest, ReadsInt8MatricesWithTheirScales) {
  std::string data = {1, -2, 127, 0, 3, -128};  // two rows of three
  data.append("\0\0", 2);
  const float scales[] = {0.5F, 2.0F};
  data.append(reinterpret_cast<const char*>(scales), sizeof scales);
  const std::string header = R"({"w":{"dtype":"I8","shape":[2,3],"data_offsets":[0,6]},)"
                             R"("w.scale":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}})";
  const std::string bytes = with_header(header + std::string(8 - header.size() % 8, ' '), data);
  const auto file = Safetensors::parse(bytes, "m");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const auto w = file->tensor("w", std::vector<size_t>{2, 3});
  ASSERT_TRUE(w.has_value()) << w.error().message;
  EXPECT_EQ(std::vector<float>(w->begin(), w->end()), (std::vector<float>{0.5F, -1, 63.5F, 0, 6, -256}));
}

TEST(SafetensorsTest, RefusesInt8WithoutScalesOrOfSharedBytes) {
  const std::string bare = with_header(R"({"w":{"dtype":"I8","shape":[2,2],"data_offsets":[0,4]}})", "abcd");
  EXPECT_NE(parse_error(bare).find("w.scale is missing"), std::string::npos);
  const std::string flat = with_header(R"({"w":{"dtype":"I8","shape":[4],"data_offsets":[0,4]}})", "abcd");
  EXPECT_NE(parse_error(flat).find("no matrix"), std::string::npos);
  const std::string one = R"(:{"dtype":"I8","shape":[1,4],"data_offsets":[0,4]},)";
  const std::string twice = with_header(
      "{\"a\"" + one + "\"b\"" + one + R"("a.scale":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "abcd");
  EXPECT_NE(parse_error(twice), "accepted");
}

TEST(MappedFileTest, SaysWhichFileIsMissing) {
  const auto file = MappedFile::open("/nowhere/model.safetensors");
  ASSERT_FALSE(file.has_value());
  EXPECT_NE(file.error().message.find("/nowhere/model.safetensors"), std::string::npos);
  EXPECT_FALSE(MappedFile::open("/tmp").has_value());
}

}  // namespace
}  // namespace hengshi::nn
