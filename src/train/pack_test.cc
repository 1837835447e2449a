#include "train/pack.h"

#include <gtest/gtest.h>

namespace hengshi::train {
namespace {

PackFile main_file() { return {"pack.toml", "name = \"shop\"\nlanguages = [\"en\"]\n"}; }
PackFile two_intents() {
  return {"intents/a.toml",
          "[[intent]]\nname = \"hours\"\n[intent.en]\nphrasings = [\"When do you open?\"]\nanswers = [\"At "
          "nine.\"]\n[[intent]]\nname = \"refund\"\n[intent.en]\nphrasings = [\"I want my money "
          "back\"]\nanswers = [\"Within seven days.\"]\n"};
}

std::string error_of(const std::vector<PackFile>& files) {
  const auto pack = parse_pack(files, "shop");
  return pack ? "none" : pack.error().message;
}

std::string error_of_intents(const std::string& more) {
  return error_of({main_file(), two_intents(), {"intents/b.toml", more}});
}

TEST(Pack, ReadsIntentsSlotsAndNegatives) {
  const PackFile slots{"intents/b.toml",
                       "[[intent]]\nname = \"order\"\n[intent.en]\nphrasings = [\"Where is AB12?\", \"my "
                       "parcel\"]\nanswers = [\"{id} is on its way.\"]\n[intent.slots.id]\npattern = '[A-Z]+\\d+'\n"};
  const PackFile negatives{"negatives/n.toml", "[en]\nphrasings = [\"Write a poem about refunds\"]\n"};
  const auto pack = parse_pack({main_file(), two_intents(), slots, negatives}, "shop");
  ASSERT_TRUE(pack) << pack.error().message;
  EXPECT_EQ(pack->name, "shop");
  ASSERT_EQ(intents_in(*pack, text::Language::kEnglish).size(), 3U);
  EXPECT_TRUE(intents_in(*pack, text::Language::kChinese).empty());
  EXPECT_EQ(answers_in(*pack, text::Language::kEnglish)[2].slots.at("id").pattern, "[A-Z]+\\d+");
  EXPECT_EQ(pack->negatives.at(text::Language::kEnglish).front().line, 2U);
  EXPECT_EQ(pack->digest.size(), 64U);
}

TEST(Pack, ErrorsNameFileLineAndFix) {
  EXPECT_EQ(error_of({main_file()}), "shop:1: no intents in en; add some, or take en out of its languages");
  EXPECT_EQ(error_of_intents("[[intent]]\nname = \"more\"\ncolour = \"red\"\n"),
            "shop/intents/b.toml:3: unknown key 'colour'; an intent has name, zh, en and slots");
  EXPECT_EQ(error_of_intents("[[intent]]\nname = \"more\"\n[intent.zh]\nphrasings = [\"你好\"]\n"),
            "shop/intents/b.toml:3: 'zh' is not among the languages of pack.toml; add it there");
  EXPECT_EQ(error_of_intents("[[intent]]\nname = \"hours\"\n"),
            "shop/intents/b.toml:2: intent hours is already in shop/intents/a.toml:2; give one of them another name");
  EXPECT_EQ(error_of_intents("[[intent]]\nname = \"more\"\n[intent.en]\nphrasings = [\"when do you OPEN\"]\nanswers = "
                             "[\"x\"]\n"),
            "shop/intents/b.toml:4: \"when do you OPEN\" stands for intent more and, in shop/intents/a.toml:4, for "
            "intent hours; keep it in one of them");
  EXPECT_EQ(
      error_of_intents("[[intent]]\nname = \"more\"\n[intent.en]\nphrasings = [\"hello\"]\n"),
      "shop/intents/b.toml:2: intent more has no answers in en; add them under [intent.en], or to its JSONL rows");
  EXPECT_EQ(error_of_intents("[[intent]]\nname = \"More\"\n"),
            "shop/intents/b.toml:2: intent name 'More' must be [a-z][a-z0-9_]*, and not oos");
  EXPECT_EQ(error_of_intents("[[intent]]\nname = \"more\"\n[intent.en]\nphrasings = [\"a\xff\"]\n"),
            "shop/intents/b.toml:4: not UTF-8; save the file as UTF-8");
  EXPECT_EQ(error_of_intents("[[intent]]\nname = \"more\"\n[intent.en]\nphrasings = [\" \"]\n"),
            "shop/intents/b.toml:4: one of the phrasings is empty; write it or take it out");
}

TEST(Pack, TemplatesAndPatternsAreChecked) {
  const std::string head = "[[intent]]\nname = \"more\"\n[intent.en]\nphrasings = [\"hello\"]\nanswers = [\n";
  EXPECT_EQ(error_of_intents(head + "\"fine\",\n\"Order {id}\"]\n"),
            "shop/intents/b.toml:7: answer uses {id}, which nothing fills; add [intent.slots.id] with a pattern, "
            "kind or values");
  EXPECT_EQ(error_of_intents(head + "\"Order {id\"]\n"),
            "shop/intents/b.toml:6: answer: column 7: '{' is not closed; write '{{' for a brace");
  EXPECT_EQ(error_of_intents(head + "\"x\"]\n[intent.slots.id]\npattern = '(a'\n"),
            "shop/intents/b.toml:8: slot id: pattern '(a': missing ): (a");
  EXPECT_EQ(error_of_intents(head + "\"x\"]\n[intent.slots.id]\n"),
            "shop/intents/b.toml:7: slot 'id' has no pattern, kind or values; write pattern = '\\d+'");
}

TEST(Pack, SlotsHaveKindsValuesAndQuestions) {
  const PackFile slots{"intents/b.toml", R"([[intent]]
name = "delivery"
[intent.en]
phrasings = ["deliver it later"]
answers = ["{day}: {colour} for {who}"]
[intent.slots.day]
kind = "date"
[intent.slots.day.ask]
en = "On which day?"
[intent.slots.who]
values = ["Ann", "Bob"]
[intent.slots.colour.values]
red = ["crimson", "dark red"]
blue = []
)"};
  const auto pack = parse_pack({main_file(), two_intents(), slots}, "shop");
  ASSERT_TRUE(pack) << pack.error().message;
  const auto answers = answers_in(*pack, text::Language::kEnglish)[2];
  EXPECT_EQ(answers.slots.at("day").kind, "date");
  EXPECT_EQ(answers.slots.at("day").ask, "On which day?");
  EXPECT_TRUE(answers.slots.at("who").ask.empty());
  EXPECT_EQ(answers.slots.at("who").values.size(), 2U);
  EXPECT_EQ(answers.slots.at("colour").values.at("red"), (std::vector<std::string>{"crimson", "dark red"}));
}

TEST(Pack, SlotsAreChecked) {
  const std::string head =
      "[[intent]]\nname = \"more\"\n[intent.en]\nphrasings = [\"hello\"]\nanswers = [\"x\"]\n[intent.slots.id]\n";
  EXPECT_EQ(error_of_intents(head + "kind = \"colour\"\n"),
            "shop/intents/b.toml:7: slot id: kind 'colour' is not known; there are number, date, time, amount, "
            "percent, phone, email, id");
  EXPECT_EQ(error_of_intents(head + "kind = \"date\"\npattern = 'a'\n"),
            "shop/intents/b.toml:8: slot 'id' has more than one of pattern, kind and values; keep one");
  EXPECT_EQ(error_of_intents(head + "pattern = 'a'\nspeed = 1\n"),
            "shop/intents/b.toml:8: unknown key 'speed'; a slot has a pattern, a kind or values, and ask");
  EXPECT_EQ(error_of_intents(head + "values = []\n"),
            "shop/intents/b.toml:7: values are none; write values = [\"red\", \"blue\"]");
  EXPECT_EQ(error_of_intents(head + "values = [3]\n"),
            "shop/intents/b.toml:7: one of the values must be text; put it in quotes");
  EXPECT_EQ(error_of_intents(head + "[intent.slots.id.values]\nred = [\"blue\"]\nblue = []\n"),
            "shop/intents/b.toml:7: slot id: 'blue' names both 'blue' and 'red'");
  EXPECT_EQ(error_of_intents(head + "kind = \"date\"\nask = \"When?\"\n"),
            "shop/intents/b.toml:8: write [intent.slots.a_name.ask], then zh = \"…\" and en = \"…\"");
  EXPECT_EQ(error_of_intents(head + "kind = \"date\"\n[intent.slots.id.ask]\nzh = \"哪天？\"\n"),
            "shop/intents/b.toml:9: 'zh' is not among the languages of pack.toml; add it there");
}

TEST(Pack, OneClassIsNoClassifier) {
  EXPECT_EQ(error_of({main_file(),
                      {"intents/a.toml",
                       "[[intent]]\nname = \"hours\"\n[intent.en]\nphrasings = [\"When "
                       "?\"]\nanswers = [\"At nine.\"]\n"}}),
            "shop:1: one intent only in en; a classifier needs two");
}

TEST(Pack, ANegativeIsNoPhrasing) {
  EXPECT_EQ(
      error_of({main_file(), two_intents(), {"negatives/n.toml", "[en]\nphrasings = [\"I want my money back!\"]\n"}}),
      "shop/negatives/n.toml:2: \"I want my money back!\" stands for a negative and, in shop/intents/a.toml:9, "
      "for intent refund; keep it in one of them");
}

TEST(Pack, MainFileIsChecked) {
  EXPECT_EQ(error_of({{"pack.toml", "languages = [\"en\"]\n"}, two_intents()}),
            "shop/pack.toml:1: no name; write name = \"my-pack\"");
  EXPECT_EQ(error_of({{"pack.toml", "name = \"a\"\nlanguages = [\"fr\"]\n"}, two_intents()}),
            "shop/pack.toml:2: language 'fr' is not known; it is zh, en, or other for any further language");
  EXPECT_EQ(error_of({{"pack.toml", "name = \"../a\"\nlanguages = [\"en\"]\n"}, two_intents()}),
            "shop/pack.toml:1: the name becomes a folder: it may not hold a slash or begin with a dot");
}

TEST(Pack, JsonlNeedsNoFolder) {
  const std::string rows =
      "{\"text\": \"怎么退款\", \"label\": \"refund\", \"answer\": \"七天内。\"}\n"
      "{\"text\": \"能退钱吗\", \"label\": \"refund\", \"answer\": \"七天内。\"}\n"
      "{\"text\": \"几点开门\", \"label\": \"hours\", \"answer\": \"九点。\", \"lang\": \"zh\"}\n"
      "{\"text\": \"写首诗\", \"label\": \"oos\"}\n";
  const auto pack = parse_jsonl_pack({"shop.jsonl", rows});
  ASSERT_TRUE(pack) << pack.error().message;
  EXPECT_EQ(pack->name, "shop");
  EXPECT_EQ(answers_in(*pack, text::Language::kChinese)[0].answers.size(), 1U);
  EXPECT_EQ(pack->negatives.at(text::Language::kChinese).size(), 1U);
  const auto no_answer = parse_jsonl_pack({"shop.jsonl", rows + "{\"text\": \"送货吗\", \"label\": \"delivery\"}\n"});
  ASSERT_FALSE(no_answer);
  EXPECT_EQ(no_answer.error().message.substr(0, 48), "shop.jsonl:5: intent delivery has no answers in ");
  const auto unknown = parse_jsonl_pack({"shop.jsonl", "{\"text\": \"a\", \"label\": \"b\", \"id\": \"1\"}"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message, "shop.jsonl:1: unknown key 'id'; a row has text, label, answer and lang");
}

TEST(Pack, AMissingFolderSaysWhatAPackIs) {
  const auto pack = read_pack("/nowhere/at/all");
  ASSERT_FALSE(pack);
  EXPECT_EQ(pack.error().code, ErrorCode::kNotFound);
}

TEST(Pack, TheDemoPackIsWhole) {
  const auto pack = read_pack(HENGSHI_SOURCE_DIR "/packs/demo");
  ASSERT_TRUE(pack) << pack.error().message;
  for (const text::Language language : {text::Language::kChinese, text::Language::kEnglish}) {
    EXPECT_GE(intents_in(*pack, language).size(), 40U);
    for (const PackIntent* intent : intents_in(*pack, language)) {
      EXPECT_GE(intent->sides.at(language).phrasings.size(), 12U) << intent->name.text;
    }
  }
}

}  // namespace
}  // namespace hengshi::train
