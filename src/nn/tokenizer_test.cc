#include "nn/tokenizer.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "nn/test_model.h"

namespace hengshi::nn {
namespace {

using Ids = std::vector<int32_t>;

Tokenizer tokenizer(bool lowercase = false) { return *Tokenizer::parse(test_tokenizer(), "tokenizer.json", lowercase); }

TEST(TokenizerTest, SplitsWordsIdeographsAndPunctuation) {
  const Tokenizer t = tokenizer();
  EXPECT_EQ(t.encode("reset my router?"), (Ids{2, 5, 6, 4, 13, 3}));
  EXPECT_EQ(t.encode("my路由器？"), (Ids{2, 6, 10, 11, 12, 14, 3}));
  EXPECT_EQ(t.encode("wi-fi"), (Ids{2, 18, 19, 20, 3}));
  EXPECT_EQ(t.encode(""), (Ids{2, 3}));
  EXPECT_EQ(t.encode(" \t\r\n\u3000\u2028"), (Ids{2, 3}));
}

TEST(TokenizerTest, TakesTheLongestPieceAndOneUnknownForAWord) {
  const Tokenizer t = tokenizer();
  EXPECT_EQ(t.encode("unaffable"), (Ids{2, 7, 8, 9, 3}));
  EXPECT_EQ(t.encode("unaffzable my"), (Ids{2, 1, 6, 3}));
  EXPECT_EQ(t.encode("aaaaaaaaaaaa"), (Ids{2, 21, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 22, 3}));
  EXPECT_EQ(t.encode("aaaaaaaaaaaaa"), (Ids{2, 1, 3}));  // thirteen characters: over the file's limit
}

TEST(TokenizerTest, AccentsAndCaseAsTheFileOrTheCallerSays) {
  EXPECT_EQ(tokenizer().encode("café"), (Ids{2, 15, 17, 3}));
  EXPECT_EQ(tokenizer().encode("Café"), (Ids{2, 1, 3}));
  EXPECT_EQ(tokenizer(true).encode("CAFÉ"), (Ids{2, 15, 16, 3}));
  EXPECT_EQ(tokenizer(true).encode("cafe\u0301"), (Ids{2, 15, 16, 3}));
}

TEST(TokenizerTest, DropsControlsAndBytesThatAreNoText) {
  const Tokenizer t = tokenizer();
  const Ids expected = {2, 6, 3};
  EXPECT_EQ(t.encode(std::string_view("m\0y\u200b\ufeff\x07", 10)), expected);
  EXPECT_EQ(t.encode("m\xffy\xc3"), expected);
  EXPECT_EQ(t.encode("m\xed\xa0\x80y"), expected);  // a surrogate
  EXPECT_EQ(t.encode("m\xc0\xafy"), expected);      // overlong
}

TEST(TokenizerTest, SpecialTokensInTheTextAreTakenAsTheyStand) {
  const Tokenizer t = tokenizer();
  EXPECT_EQ(t.encode("my[SEP]router"), (Ids{2, 6, 3, 4, 3}));
  EXPECT_EQ(t.encode("[sep"), (Ids{2, 1, 1, 3}));
}

TEST(TokenizerTest, CutsTheTailAndCountsTheWhole) {
  const Tokenizer t = tokenizer();
  EXPECT_EQ(t.encode("reset my router", 4), (Ids{2, 5, 6, 3}));
  EXPECT_EQ(t.encode("unaffable", 3), (Ids{2, 7, 3}));
  EXPECT_EQ(t.encode("my", 2), (Ids{2, 3}));
  EXPECT_EQ(t.count("reset my router"), 3U);
  std::string huge;
  for (int i = 0; i < 100'000; ++i) huge += "router ";
  EXPECT_EQ(t.encode(huge, 16).size(), 16U);
  EXPECT_EQ(t.count(huge), 100'000U);
}

std::string spoilt(const std::string& from, const std::string& to) {
  std::string json = test_tokenizer();
  const size_t at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

TEST(TokenizerTest, RefusesWhatItWouldNotFollowAndSaysWhy) {
  const auto message = [](const std::string& json) {
    const auto made = Tokenizer::parse(json, "dir/tokenizer.json");
    return made ? std::string("accepted") : made.error().message;
  };
  const auto expect = [&](const std::string& json, const std::string& why) {
    const std::string told = message(json);
    EXPECT_NE(told.find("dir/tokenizer.json"), std::string::npos) << told;
    EXPECT_NE(told.find(why), std::string::npos) << told;
  };
  expect("", "no JSON");
  expect("{\"model\":", "no JSON");
  expect("{}", "no WordPiece");
  expect(spoilt("\"WordPiece\"", "\"BPE\""), "no WordPiece");
  expect(spoilt("\"BertNormalizer\"", "\"NFC\""), "no BertNormalizer");
  expect(spoilt("\"BertPreTokenizer\"", "\"Metaspace\""), "no BertPreTokenizer");
  expect(spoilt("\"[UNK]\":1,", ""), "unk_token");
  expect(spoilt("\"router\":4", "\"router\":-4"), "an id");
  expect(spoilt("\"router\":4", "\"router\":4000000000"), "an id");
  expect(spoilt("\"special\":true", "\"lstrip\":true"), "lstrip");
  expect(spoilt("{\"SpecialToken\":{\"id\":\"[CLS]\"", "{\"SpecialToken\":{\"id\":\"[BOS]\""), "not there");
  expect(spoilt("TemplateProcessing", "ByteLevel"), "two tokens");
}

std::string models() {
  const char* const told = std::getenv("HENGSHI_MODELS");
  return told != nullptr ? told : std::string(HENGSHI_SOURCE_DIR) + "/models";
}

// From PyPI tokenizers on the files as they are; thousands of real lines are compared by tests/tokenizer_parity.py.
TEST(TokenizerTest, GoldenIdsOfTheShippedModels) {
  struct Golden {
    const char* model;
    const char* text;
    Ids ids;
  };
  const Golden goldens[] = {
      {"bge-small-zh-v1.5",
       "我的路由器怎么连不上网？",
       {101, 2769, 4638, 6662, 4507, 1690, 2582, 720, 6825, 679, 677, 5381, 8043, 102}},
      {"bge-small-zh-v1.5", "iPhone连不上WiFi", {101, 100, 6825, 679, 677, 100, 102}},
      {"bge-small-zh-v1.5",
       "请帮我把闹钟改到明天早上七点半",
       {101, 6435, 2376, 2769, 2828, 7317, 7164, 3121, 1168, 3209, 1921, 3193, 677, 673, 4157, 1288, 102}},
      {"bge-small-zh-v1.5",
       "Ｗｉ－Ｆｉ密码：１２３４５６",
       {101, 100, 8025, 100, 2166, 4772, 8038, 10351, 9089, 9484, 8901, 9234, 102}},
      {"bge-small-zh-v1.5", "👍 crème\u200bbrûlée [MASK]", {101, 8102, 100, 103, 102}},
      {"all-minilm-l6-v2", "How do I reset my router?", {101, 2129, 2079, 1045, 25141, 2026, 2799, 2099, 1029, 102}},
      {"all-minilm-l6-v2",
       "The printer won't connect to Wi-Fi",
       {101, 1996, 15041, 2180, 1005, 1056, 7532, 2000, 15536, 1011, 10882, 102}},
      {"all-minilm-l6-v2",
       "Crème brûlée à la française",
       {101, 13675, 21382, 7987, 9307, 2063, 1037, 2474, 18427, 102}},
      {"all-minilm-l6-v2", "İstanbul 東京 😭 unaffable", {101, 9960, 1879, 1755, 100, 14477, 20961, 3468, 102}},
      {"all-minilm-l6-v2",
       "[CLS] zero\u200bwidth, x^2",
       {101, 101, 5717, 9148, 11927, 2232, 1010, 1060, 1034, 1016, 102}},
  };
  for (const Golden& golden : goldens) {
    std::ifstream in(models() + "/" + golden.model + "/tokenizer.json", std::ios::binary);
    if (!in) GTEST_SKIP() << "skipped: no models";
    const std::string json((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    const auto made = Tokenizer::parse(json, golden.model);
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_EQ(made->encode(golden.text), golden.ids) << golden.text;
  }
}

}  // namespace
}  // namespace hengshi::nn
