#include "train/pack_lint.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/test_folder.h"
#include "train/toy.h"

namespace hengshi::train {
namespace {

// Four intents of forty toy questions each, with what a test adds to them.
class LintTest : public testing::Test {
 protected:
  void SetUp() override {
    Rng rng(3);
    pack_.where = "toy";
    pack_.languages = {text::Language::kEnglish};
    for (const char* word : {"lamp", "lock", "camera", "vacuum"}) {
      PackIntent intent{{word, "toy/a.toml", 1}, {}, {}};
      for (int i = 0; i < 40; ++i) add(intent, toy_question(word, rng) + " number " + std::to_string(i));
      intent.sides[text::Language::kEnglish].answers.push_back({"Yes.", "toy/a.toml", 9});
      pack_.intents.push_back(std::move(intent));
    }
  }

  void add(PackIntent& intent, std::string text) {
    Side& side = intent.sides[text::Language::kEnglish];
    side.phrasings.push_back({std::move(text), "toy/a.toml", ++line_});
  }
  void add_negative(std::string text) {
    pack_.negatives[text::Language::kEnglish].push_back({std::move(text), "toy/n.toml", ++line_});
  }

  std::vector<Finding> lint(LintKind kind, const nn::Encoder* encoder = nullptr) {
    LintOptions options;
    options.progress = false;
    report_ = lint_pack(pack_, options, {encoder});
    std::vector<Finding> out;
    for (const Finding& one : report_.findings) {
      if (one.kind == kind) out.push_back(one);
    }
    return out;
  }

  Pack pack_;
  uint32_t line_ = 1;
  LintReport report_;
};

TEST_F(LintTest, AGoodPackIsClean) {
  EXPECT_TRUE(lint(LintKind::kFault).empty());
  EXPECT_TRUE(report_.counts.empty()) << report_.table();
  EXPECT_TRUE(report_.table().ends_with("nothing found"));
  EXPECT_EQ(report_.rows, 160U);
}

TEST_F(LintTest, WrongLabelsAreFoundByWhatOthersSay) {
  for (const bool encoder : {false, true}) {
    if (!encoder) add(pack_.intents[0], "can you do my vacuum please now");
    const ToyEncoder toy;
    const auto wrong = lint(LintKind::kWrongLabel, encoder ? &toy : nullptr);
    ASSERT_EQ(wrong.size(), 1U) << report_.table();
    EXPECT_EQ(wrong[0].line, line_);
    EXPECT_TRUE(
        wrong[0].what.starts_with("\"can you do my vacuum please now\" of intent lamp reads like intent vacuum ("));
  }
}

TEST_F(LintTest, LeaksGoBothWays) {
  Rng rng(5);
  for (int i = 0; i < 40; ++i) add_negative(toy_question("poem", rng) + " number " + std::to_string(i));
  add_negative("how the camera number 12");
  add(pack_.intents[1], "can you do my poem now please number 12");
  const auto leaks = lint(LintKind::kLeak);
  ASSERT_EQ(leaks.size(), 2U) << report_.table();
  EXPECT_NE((leaks[0].what + leaks[1].what).find("of the negatives reads like intent camera"), std::string::npos);
  EXPECT_NE((leaks[0].what + leaks[1].what).find("of intent lock reads like the negatives"), std::string::npos);
}

TEST_F(LintTest, NearlyTheSameTextInTwoPlaces) {
  add(pack_.intents[0], "does the device remember its settings after a power cut at night");
  add(pack_.intents[1], "does the device remember its settings after the power cut at night");
  const auto near = lint(LintKind::kNearDuplicate);
  ASSERT_EQ(near.size(), 1U) << report_.table();
  EXPECT_EQ(near[0].line, line_);
  EXPECT_GT(near[0].score, 0.9);
}

TEST_F(LintTest, IntentsTakenForEachOtherShouldMerge) {
  Rng rng(7);
  for (const char* name : {"radio_a", "radio_b"}) {
    PackIntent intent{{name, "toy/b.toml", 1}, {}, {}};
    for (int i = 0; i < 40; ++i) add(intent, toy_question("radio", rng) + " number " + std::to_string(rng.below(40)));
    intent.sides[text::Language::kEnglish].answers.push_back({"Yes.", "toy/b.toml", 9});
    pack_.intents.push_back(std::move(intent));
  }
  const auto merge = lint(LintKind::kMerge);
  ASSERT_EQ(merge.size(), 1U) << report_.table();
  EXPECT_TRUE(merge[0].what.starts_with("intent radio_a and intent radio_b: ")) << merge[0].what;
}

TEST_F(LintTest, CountsShapesAndRepeats) {
  PackIntent few{{"few", "toy/b.toml", 1}, {}, {}};
  for (const char* text : {"my radio is loud", "My radio is loud!", "How loud is it? Is it dear?"}) add(few, text);
  few.sides[text::Language::kEnglish].answers.push_back({"Yes.", "toy/b.toml", 9});
  pack_.intents.push_back(few);
  PackIntent many{{"many", "toy/b.toml", 2}, {}, {}};
  for (int i = 0; i < 500; ++i) add(many, "ticket " + std::to_string(i * 7919));
  many.sides[text::Language::kEnglish].answers.push_back({"Yes.", "toy/b.toml", 9});
  pack_.intents.push_back(many);
  const auto missing = lint(LintKind::kFewPhrasings);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].what, "intent few has 3 phrasings in en");
  EXPECT_EQ(lint(LintKind::kUnbalanced).at(0).what, "intent many has 500 phrasings in en, most have about 40");
  EXPECT_EQ(lint(LintKind::kUnreachable).at(0).what,
            "\"How loud is it? Is it dear?\" of intent few is never answered: several_questions");
  EXPECT_EQ(lint(LintKind::kDuplicate).size(), 1U);
}

TEST_F(LintTest, WhatTrainingRefusesComesFirst) {
  add(pack_.intents[0], "my two lamps");
  add(pack_.intents[1], "My two lamps!");
  pack_.intents[2].sides[text::Language::kEnglish].answers.clear();
  const auto faults = lint(LintKind::kFault);
  EXPECT_EQ(faults.size(), 2U);
  EXPECT_EQ(report_.findings.front().kind, LintKind::kFault);
  EXPECT_EQ(report_.counts.front(), (std::pair{LintKind::kFault, size_t{2}}));
}

TEST_F(LintTest, ListsAreCutAndToldAsJson) {
  for (int i = 0; i < 30; ++i) add(pack_.intents[0], "the same \"thing\"");
  LintOptions options;
  options.progress = false;
  options.limit = 4;
  const LintReport short_one = lint_pack(pack_, options, {nullptr});
  EXPECT_EQ(short_one.findings.size(), 4U);
  EXPECT_EQ(short_one.counts.front(), (std::pair{LintKind::kDuplicate, size_t{29}}));
  EXPECT_NE(short_one.table().find("duplicate (29, 4 shown): phrasings that stand twice in one intent"),
            std::string::npos);
  EXPECT_NE(short_one.json().find("\"counts\": {\"duplicate\": 29}"), std::string::npos);
  EXPECT_NE(short_one.json().find(R"(\"the same \"thing\"\")"), std::string::npos) << short_one.json();
}

TEST_F(LintTest, TooLittleToCompareIsSaid) {
  pack_.intents.resize(1);
  EXPECT_EQ(lint(LintKind::kFault).at(0).what, "one intent only in en; a classifier needs two");
  EXPECT_EQ(report_.notes.at(0), "en: labels were not compared: 40 phrasings of 1 intent (from 40 of 2 to 1000)");
}

TEST_F(LintTest, ASlotThatNoAnswerUses) {
  PackSlot slot{{"colour", "toy/a.toml", 7}, {}, {}};
  slot.source.values["red"];
  pack_.intents[0].slots["colour"] = slot;
  const auto unused = lint(LintKind::kUnusedSlot);
  ASSERT_EQ(unused.size(), 1U) << report_.table();
  EXPECT_EQ(unused[0].what, "no answer of intent lamp uses {colour}");
  EXPECT_EQ(unused[0].line, 7U);
  pack_.intents[0].sides[text::Language::kEnglish].answers.push_back({"It is {colour|white}.", "toy/a.toml", 8});
  EXPECT_TRUE(lint(LintKind::kUnusedSlot).empty());
}

TEST_F(LintTest, RulesAreReadAsTheServerReadsThem) {
  const TempFolder folder;
  pack_.where = folder.path();
  EXPECT_TRUE(lint(LintKind::kBadRule).empty());
  folder.write("rules.toml", "[[rule]]\nname = \"a\"\npatterns = [\n  'fine',\n  '(open'\n]\nanswer = \"b\"\n");
  const auto bad = lint(LintKind::kBadRule);
  ASSERT_EQ(bad.size(), 1U) << report_.table();
  EXPECT_EQ(bad[0].file, folder / "rules.toml");
  EXPECT_EQ(bad[0].line, 5U);
  EXPECT_EQ(bad[0].what, "rule \"a\": bad pattern '(open': missing ): (open");
  folder.write("rules.toml", "[[rule]]\nname = \"a\"\npatterns = ['fine']\nanswer = \"b\"\n");
  EXPECT_TRUE(lint(LintKind::kBadRule).empty());
}

}  // namespace
}  // namespace hengshi::train
