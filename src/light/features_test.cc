#include "light/features.h"

#include <gtest/gtest.h>

#include <cmath>

namespace hengshi::light {
namespace {

Grams grams_of(std::string_view s, text::Language language) {
  Grams out;
  extract_grams(s, language, out);
  return out;
}

// Artifacts hold these hashes: a change here is a change of their format.
TEST(Features, HashesAreGolden) {
  EXPECT_EQ(grams_of("开灯", text::Language::kChinese), (Grams{824682783U, 3190652589U, 3080530257U}));
  EXPECT_EQ(grams_of("a b", text::Language::kEnglish),
            (Grams{1857580912U, 3899691889U, 1037017211U, 810031103U, 654168102U, 2075435290U, 4294939553U, 1154992527U,
                   4068396881U}));
}

TEST(Features, CountsOfGrams) {
  EXPECT_EQ(grams_of("怎么连接wifi", text::Language::kChinese).size(), 8U + 7U + 6U);
  // " turn " has 5+4+3+2 grams of 2 to 5 characters, " on " 3+2+1; two words and one pair.
  EXPECT_EQ(grams_of("turn on", text::Language::kEnglish).size(), 14U + 6U + 3U);
  EXPECT_TRUE(grams_of("", text::Language::kChinese).empty());
  EXPECT_TRUE(grams_of("", text::Language::kEnglish).empty());
  EXPECT_EQ(grams_of("\xff\x80", text::Language::kChinese).size(), 1U);  // broken bytes are a character, not a fault
}

TEST(Features, WeighedQuestionsHaveLengthOne) {
  const std::vector<Grams> documents = {grams_of("turn on the light", text::Language::kEnglish),
                                        grams_of("turn off the light", text::Language::kEnglish)};
  const Vocabulary vocabulary = Vocabulary::fit(documents, 1000);
  Grams question = grams_of("turn the light on please", text::Language::kEnglish);
  Sparse weighed;
  vocabulary.weigh(question, weighed);
  float squares = 0;
  for (const float v : weighed.values) squares += v * v;
  EXPECT_NEAR(squares, 1, 1e-5);
  EXPECT_GT(weighed.unknown, 0.2F);
  EXPECT_LT(weighed.unknown, 0.8F);
  Grams nothing = grams_of("xyz", text::Language::kEnglish);
  vocabulary.weigh(nothing, weighed);
  EXPECT_TRUE(weighed.rows.empty());
  EXPECT_EQ(weighed.unknown, 1);
}

TEST(Features, ARareGramWeighsMoreAndTheLimitKeepsTheFrequent) {
  const std::vector<Grams> documents = {{2, 4}, {2, 6}, {2, 4, 8}};
  const Vocabulary all = Vocabulary::fit(documents, 100);
  EXPECT_EQ(all.hashes(), (std::vector<uint32_t>{2, 4, 6, 8}));
  EXPECT_LT(all.idf()[0], all.idf()[1]);
  EXPECT_NEAR(all.idf()[0], std::log(4.0F / 4.0F) + 1, 1e-6);
  EXPECT_EQ(Vocabulary::fit(documents, 2).hashes(), (std::vector<uint32_t>{2, 4}));
}

}  // namespace
}  // namespace hengshi::light
