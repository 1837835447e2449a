#include "train/noise.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "text/text.h"
#include "train/noise_copies.h"
#include "train/noise_meaning.h"
#include "train/noise_tables.h"
#include "train/toy.h"

namespace hengshi::train {
namespace {

using text::Language;

Noise noise_of(Language language) {
  auto noise = Noise::load(language);
  EXPECT_TRUE(noise.has_value());
  return *std::move(noise);
}

const std::vector<std::string>& chinese() {
  static const std::vector<std::string> texts = {"帮我查一下订单DD20240315-88到哪里了",
                                                 "我的快递为什么还没有到",
                                                 "把客厅的灯关掉,不要关卧室的",
                                                 "周末从西安到重庆的高铁票",
                                                 "密码忘了怎么办",
                                                 "我要取消会员不想续费了",
                                                 "买卖合同在哪里下载",
                                                 "三点五十分提醒我开会",
                                                 "转账3万元要多久",
                                                 "别给我推荐音乐",
                                                 "末班车是几点",
                                                 "你好",
                                                 "请发到 li.lei@example.com",
                                                 "無法登錄怎麼辦",
                                                 "嗯"};
  return texts;
}

const std::vector<std::string>& english() {
  static const std::vector<std::string> texts = {"where is my order AB-12345",
                                                 "I can't log in to my account",
                                                 "do not turn off the kitchen lights",
                                                 "what's the weather like tomorrow",
                                                 "send it to li.lei@example.com",
                                                 "transfer 3 million to account 0042",
                                                 "wake me up at twenty past six",
                                                 "why isn't my card working",
                                                 "cancel my subscription, please",
                                                 "now note the new notes",
                                                 "I never received the refund",
                                                 "play some jazz",
                                                 "ok",
                                                 "is there a way to withdraw cash?",
                                                 "it's http://example.com/a/7 that fails"};
  return texts;
}

// Digits, and the characters and words that negate, as they follow one another.
std::string untouchable(const std::string& text) { return read_meaning(characters_of(text)).fixed; }

std::string digits_of(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c >= '0' && c <= '9') out += c;
  }
  return out;
}

void expect_meaning_kept(const std::string& from, const std::string& to) {
  EXPECT_FALSE(text::normalise(to).empty()) << from;
  EXPECT_TRUE(text::valid_utf8(to)) << from;
  EXPECT_EQ(digits_of(from), digits_of(to)) << to;
  EXPECT_EQ(untouchable(from), untouchable(to)) << from << " | " << to;
}

TEST(Noise, NeverTouchesDigitsIdsOrNegationsAndNeverEmptiesAText) {
  for (const auto& [language, texts] : {std::pair{Language::kChinese, &chinese()}, {Language::kEnglish, &english()}}) {
    const Noise noise = noise_of(language);
    Rng rng(7);
    for (int round = 0; round < 200; ++round) {
      for (const std::string& text : *texts) {
        expect_meaning_kept(text, noise.corrupt(text, 3, NoiseMix::kAll, rng));
        for (const NoiseKind kind : noise.kinds(NoiseMix::kAll)) {
          if (const auto one = noise.corrupt_as(kind, text, rng)) expect_meaning_kept(text, *one);
        }
      }
    }
  }
}

TEST(Noise, WhatAQuestionMeansIsReadFromIt) {
  EXPECT_EQ(untouchable("我没有收到3万元"), "没有\n3万\n");
  EXPECT_EQ(untouchable("订单AB-12/7在哪"), "ab-12/7\n");
  EXPECT_EQ(untouchable("周末特别不错,是不是"), "");  // no negation in any of them
  EXPECT_EQ(untouchable("无法登錄"), "无法\n");
  EXPECT_EQ(untouchable("沒有"), "没有\n");
  EXPECT_EQ(untouchable("三百二十块"), "三百二十\n");
  EXPECT_EQ(untouchable("I can’t and don't, without a@b.cn"), "can't\ndon't\nwithout\na@b.cn\n");
  EXPECT_EQ(untouchable("twenty-five of 3 million"), "twenty-five\n3 million\n");
}

TEST(Noise, NoNegationOppositeOrDateAppears) {
  const auto means_the_same = [](const char* a, const char* b) {
    return same_meaning(read_meaning(characters_of(a)), read_meaning(characters_of(b)));
  };
  EXPECT_FALSE(means_the_same("末班车", "未班车"));
  EXPECT_FALSE(means_the_same("买保险", "卖保险"));
  EXPECT_FALSE(means_the_same("大后天去", "后天去"));
  EXPECT_FALSE(means_the_same("now", "not"));
  EXPECT_FALSE(means_the_same("order 12", "order12"));
  EXPECT_FALSE(means_the_same("没有", "没嗯有"));
  EXPECT_TRUE(means_the_same("关灯", "官灯"));
  EXPECT_TRUE(means_the_same("open the door", "opne the door"));
}

TEST(Noise, IsTheSameForTheSameSeedAndOtherwiseForAnother) {
  const Noise noise = noise_of(Language::kChinese), again = noise_of(Language::kChinese);
  const auto spoiled = [&](const Noise& by, uint64_t seed) {
    Rng rng(seed);
    std::vector<std::string> out;
    for (const std::string& text : chinese()) out.push_back(by.corrupt(text, 2, NoiseMix::kAll, rng));
    return out;
  };
  EXPECT_EQ(spoiled(noise, 1), spoiled(again, 1));
  EXPECT_NE(spoiled(noise, 1), spoiled(noise, 2));
}

std::set<std::string> outcomes(const Noise& noise, NoiseKind kind, const std::string& text) {
  std::set<std::string> out;
  Rng rng(3);
  for (int i = 0; i < 3000; ++i) {
    if (auto one = noise.corrupt_as(kind, text, rng)) out.insert(*std::move(one));
  }
  return out;
}

TEST(Noise, ChineseKindsDoWhatTheirNamesSay) {
  const Noise noise = noise_of(Language::kChinese);
  const auto can = [&](NoiseKind kind, const char* from, const char* to) {
    return outcomes(noise, kind, from).contains(to);
  };
  EXPECT_TRUE(can(NoiseKind::kHomophone, "订票", "定票"));
  EXPECT_TRUE(can(NoiseKind::kHomophone, "银行", "银航"));  // a second reading
  EXPECT_TRUE(can(NoiseKind::kNearHomophone, "资料", "知料"));
  EXPECT_TRUE(can(NoiseKind::kNearHomophone, "牛奶", "流奶"));
  EXPECT_TRUE(can(NoiseKind::kNearHomophone, "心情", "星情"));
  EXPECT_TRUE(can(NoiseKind::kSimilarShape, "天晴了", "天睛了"));
  EXPECT_TRUE(can(NoiseKind::kDropped, "查快递", "查递"));
  EXPECT_TRUE(can(NoiseKind::kDoubled, "查快递", "查查快递"));
  EXPECT_TRUE(can(NoiseKind::kSwapped, "查快递", "查递快"));
  EXPECT_TRUE(can(NoiseKind::kTraditional, "发邮件", "發郵件"));
  EXPECT_TRUE(can(NoiseKind::kFullWidth, "开wifi", "开ｗｉｆｉ"));
  EXPECT_TRUE(can(NoiseKind::kBorrowedWord, "发邮件给他", "发email给他"));
  EXPECT_TRUE(can(NoiseKind::kFiller, "查快递", "嗯查快递"));
  EXPECT_TRUE(can(NoiseKind::kSplit, "先走", "西安走"));
  EXPECT_TRUE(can(NoiseKind::kMerged, "西安", "先"));
  EXPECT_FALSE(can(NoiseKind::kSwapped, "不要播放", "不播要放"));
  EXPECT_TRUE(outcomes(noise, NoiseKind::kDropped, "你好").empty());  // what is left would say nothing
  EXPECT_TRUE(outcomes(noise, NoiseKind::kNeighbourKey, "开wifi").empty());
}

TEST(Noise, EnglishKindsDoWhatTheirNamesSay) {
  const Noise noise = noise_of(Language::kEnglish);
  const auto can = [&](NoiseKind kind, const char* from, const char* to) {
    return outcomes(noise, kind, from).contains(to);
  };
  EXPECT_TRUE(can(NoiseKind::kNeighbourKey, "Play jazz", "Olay jazz"));
  EXPECT_TRUE(can(NoiseKind::kDropped, "play jazz", "pay jazz"));
  EXPECT_TRUE(can(NoiseKind::kDoubled, "play jazz", "plaay jazz"));
  EXPECT_TRUE(can(NoiseKind::kSwapped, "play jazz", "paly jazz"));
  EXPECT_TRUE(can(NoiseKind::kMissingSpace, "play jazz", "playjazz"));
  EXPECT_TRUE(can(NoiseKind::kLetterCase, "play jazz", "PLAY jazz"));
  EXPECT_TRUE(can(NoiseKind::kApostrophe, "what's up", "whats up"));
  EXPECT_TRUE(can(NoiseKind::kApostrophe, "my alarms", "my alarm's"));
  EXPECT_TRUE(can(NoiseKind::kFullWidth, "play jazz", "play ｊａｚｚ"));
  EXPECT_TRUE(can(NoiseKind::kFiller, "play jazz", "play um jazz"));
  EXPECT_TRUE(can(NoiseKind::kMisheard, "the weather", "the whether"));
  EXPECT_TRUE(can(NoiseKind::kSplit, "play jazz", "play ja zz"));
  EXPECT_TRUE(outcomes(noise, NoiseKind::kDropped, "I am").empty());
}

TEST(Noise, KindsAreNamedAndTypingErrorsAreTold) {
  EXPECT_EQ(noise_name(NoiseKind::kNearHomophone), "near_homophone");
  EXPECT_EQ(noise_name(NoiseKind::kMerged), "merged");
  const Noise zh = noise_of(Language::kChinese), en = noise_of(Language::kEnglish);
  EXPECT_EQ(zh.kinds(NoiseMix::kTyping).size(), 6U);
  EXPECT_EQ(zh.kinds(NoiseMix::kAll).size(), 12U);
  EXPECT_EQ(en.kinds(NoiseMix::kTyping).size(), 7U);
  EXPECT_EQ(en.kinds(NoiseMix::kAll).size(), 11U);
  EXPECT_FALSE(Noise::load(Language::kOther).has_value());
}

TEST(Noise, ATextWithoutAPlaceForAnErrorStaysAsItIs) {
  const Noise noise = noise_of(Language::kEnglish);
  Rng rng(1);
  for (const std::string text : {"", "12345", "AB-12345", "?", "\xff\xfe"}) {
    EXPECT_EQ(noise.corrupt(text, 1, NoiseMix::kTyping, rng), text);
  }
}

TEST(NoiseTables, CharactersSoundAndLookAsTheTablesSay) {
  const NoiseTables tables = build_noise_tables(Language::kChinese);
  EXPECT_GT(tables.syllables.size(), 380U);
  EXPECT_GT(tables.readings.size(), 3700U);
  EXPECT_GT(tables.alike.size(), 2500U);
  EXPECT_GT(tables.traditional.size(), 1000U);
  EXPECT_EQ(tables.readings.at(U'行').size(), 2U);
  EXPECT_NE(tables.alike.at(U'货').find(U'贷'), std::u32string::npos);
  EXPECT_NE(tables.alike.at(U'己').find(U'已'), std::u32string::npos);
}

TEST(NoisyCopies, ComeAsOftenAsAskedAndKeepLabelAndOrigin) {
  const Noise noise = noise_of(Language::kEnglish);
  std::vector<Question> rows(8);
  for (uint32_t i = 0; i < rows.size(); ++i) {
    rows[i] = {"please play some jazz in room " + std::string(1, "abcdefgh"[i]), i, i == 7};
  }
  for (const double per_row : {0.5, 1.0, 2.25}) {
    const Copies copies = noisy_copies(rows, noise, {per_row, 1, NoiseMix::kTyping, 1});
    EXPECT_EQ(copies.questions.size(), static_cast<size_t>(per_row * 8));
    for (size_t i = 0; i < copies.questions.size(); ++i) {
      EXPECT_EQ(copies.questions[i].label, rows[copies.origins[i]].label);
      EXPECT_EQ(copies.questions[i].foreign, rows[copies.origins[i]].foreign);
      EXPECT_NE(copies.questions[i].text, rows[copies.origins[i]].text);
    }
  }
}

TEST(NoisyCopies, AreAddedBehindTheRowsTheyAreOf) {
  const Noise noise = noise_of(Language::kEnglish);
  const ToyEncoder encoder;
  Examples rows = embed(encoder, {{{"please play some jazz", 0, false}, {"write me a poem", 1, true}}}, false);
  add_copies(rows, encoder, noise, 2, 1, false);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows.originals(), 2U);
  EXPECT_EQ(rows.origins, (std::vector<size_t>{0, 0, 1, 1}));
  for (size_t i = 2; i < 6; ++i) {
    EXPECT_EQ(rows.labels[i], rows.origins[i - 2]);
    EXPECT_EQ(rows.foreign[i], rows.origins[i - 2]);
    EXPECT_NE(rows.texts[i], rows.texts[rows.origins[i - 2]]);
    std::vector<float> vector(encoder.dim());
    encoder.encode(rows.texts[i], vector);
    EXPECT_TRUE(std::equal(vector.begin(), vector.end(), rows.embedding(i).begin()));
  }
}

TEST(NoisyCopies, ManyRowsGetFewer) {
  EXPECT_EQ(copies_per_row({}, 1000), 3);
  EXPECT_EQ(copies_per_row({}, 100000), 0.6);
  EXPECT_EQ(copies_per_row(2.0, 100000), 2);
  EXPECT_EQ(copies_per_row(0.0, 10), 0);
}

TEST(NoisyCopies, EveryNthHeldOutRowGetsAnError) {
  const Noise noise = noise_of(Language::kEnglish);
  const std::vector<Question> rows(7, {"please play some jazz", 3, false});
  const std::vector<Question> spoilt = with_errors(rows, 3, noise, 1);
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(spoilt[i].text != rows[i].text, i % 3 == 0) << i;
    EXPECT_EQ(spoilt[i].label, 3U);
  }
}

TEST(NoisyCopies, LeaveOutWhatIsAnotherLabelsRow) {
  const Noise noise = noise_of(Language::kEnglish);
  const std::vector<Question> rows = {{"lock card", 0, false}, {"lock cart", 1, false}};
  for (uint64_t seed = 0; seed < 200; ++seed) {
    for (const Question& copy : noisy_copies(rows, noise, {4, 1, NoiseMix::kAll, seed}).questions) {
      const std::string normal = text::normalise(copy.text);
      EXPECT_FALSE(normal == "lock card" && copy.label == 1U);
      EXPECT_FALSE(normal == "lock cart" && copy.label == 0U);
    }
  }
}

}  // namespace
}  // namespace hengshi::train
