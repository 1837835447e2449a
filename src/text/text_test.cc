#include "text/text.h"

#include <gtest/gtest.h>

#include "text/simplify.h"
#include "text/utf8.h"

namespace hengshi::text {
namespace {

TEST(Normalise, OneFormForOneQuestion) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"How do I reset it?", "how do i reset it"},
      {"  How   do\tI\nreset it ?! ", "how do i reset it"},
      {"ＨＯＷ　ｄｏ　Ｉ　ｒｅｓｅｔ　ｉｔ？", "how do i reset it"},
      {"怎么打开 WiFi？", "怎么打开wifi"},
      {"怎麼打開WiFi", "怎么打开wifi"},
      {"怎么 打开 ｗｉｆｉ。。。", "怎么打开wifi"},
      {"你好，世界！", "你好,世界"},
      {"what’s “this”", "what's \"this\""},
      {"Straße", "strasse"},
      {"cafe\u0301", "café"},
      {"ﬁle №5", "file no5"},
      {"①", "1"},
      {"zero\u200Bwidth", "zerowidth"},
      {"soft\u00ADhyphen", "softhyphen"},
      {"\uFEFFbom", "bom"},
      {"👍🏽 ok", "👍🏽 ok"},
      {"ok ❤\uFE0F", "ok ❤"},
      {"???", "???"},
      {"", ""},
      {"   ", ""},
      {"what is 5!", "what is 5!"},
      {"version 1.5.", "version 1.5"},
      {"手機電池無法充電", "手机电池无法充电"},
      {"在吗~", "在吗"},
      {"さくら テスト", "さくら テスト"},
      {"a\xFF"
       "b",
       "a\uFFFD"
       "b"},
      {"\xE4\xBD", "\uFFFD\uFFFD"},
  };
  for (const auto& c : cases) EXPECT_EQ(normalise(c.text), c.expected) << c.text;
}

TEST(Normalise, IsIdempotent) {
  for (const char* text : {"怎麼 打開 WiFi？", "How DO i?!", "５ ｋｇ 的 包裹", "a . . ?", "İstanbul", "ǅ", "5!!"}) {
    const std::string once = normalise(text);
    EXPECT_EQ(normalise(once), once) << text;
  }
}

TEST(Normalise, DifferentQuestionsStayDifferent) {
  EXPECT_NE(normalise("C++ 教程"), normalise("C 教程"));
  EXPECT_NE(normalise("5kg"), normalise("5g"));
  EXPECT_NE(normalise("1.5"), normalise("15"));
}

TEST(Language, ByItsLetters) {
  EXPECT_EQ(detect_language("怎么连接 WiFi?"), Language::kChinese);
  EXPECT_EQ(detect_language("手機"), Language::kChinese);
  EXPECT_EQ(detect_language("How do I connect?"), Language::kEnglish);
  EXPECT_EQ(detect_language("ｗｉｆｉ"), Language::kEnglish);
  EXPECT_EQ(detect_language("👍 great"), Language::kEnglish);
  EXPECT_EQ(detect_language("どうやって接続しますか"), Language::kOther);
  EXPECT_EQ(detect_language("어떻게 연결하나요"), Language::kOther);
  EXPECT_EQ(detect_language("où est la gare"), Language::kOther);
  EXPECT_EQ(detect_language("как дела"), Language::kOther);
  EXPECT_EQ(detect_language("12345?"), Language::kOther);
  EXPECT_EQ(detect_language(""), Language::kOther);
  EXPECT_EQ(language_name(Language::kChinese), "zh");
  EXPECT_EQ(language_name(Language::kEnglish), "en");
  EXPECT_EQ(language_name(Language::kOther), "other");
  for (const Language language : kLanguages) EXPECT_EQ(language_named(language_name(language)), language);
  EXPECT_EQ(language_named("fr"), std::nullopt);
}

TEST(Utf8, AcceptsWellFormedOnly) {
  for (const char* good : {"", "ascii only, longer than eight", "é", "中文", "👍", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(valid_utf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xF8\x88\x80\x80\x80", "longer than eight \xFF", "cut \xE4\xBD", "\xC3("}) {
    EXPECT_FALSE(valid_utf8(bad)) << bad;
  }
}

TEST(Utf8, EveryCodePointSurvives) {
  for (char32_t c = 0; c <= 0x10FFFF; ++c) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string s;
    append(s, c);
    const CodePoint back = decode(s, 0);
    ASSERT_TRUE(back.valid && back.value == c && back.bytes == s.size()) << static_cast<uint32_t>(c);
  }
}

TEST(Utf8, CountsCharactersNotBytes) {
  EXPECT_EQ(count_characters("abc"), 3u);
  EXPECT_EQ(count_characters("你好👍"), 3u);
  EXPECT_EQ(count_characters("\xFF\xFE"), 2u);
}

TEST(Simplify, CharacterByCharacter) {
  EXPECT_EQ(simplify(U'關'), U'关');
  EXPECT_EQ(simplify(U'開'), U'开');
  EXPECT_EQ(simplify(U'们'), U'们');
  EXPECT_EQ(simplify(U'a'), U'a');
}

}  // namespace
}  // namespace hengshi::text
