#include "rules/rules.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

namespace hengshi::rules {
namespace {

struct Case {
  std::string where, toml, error;
  std::vector<std::pair<std::string, std::string>> asked;
};

// The format is told at the head of tests/cases/rules/answers.case.
std::vector<Case> read_cases(const std::filesystem::path& path) {
  std::vector<Case> out;
  std::ifstream in(path);
  enum { kNone, kRules, kAsk, kError } part = kNone;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line == "=== rules") {
      part = kRules;
      out.emplace_back().where = path.filename().string() + ":" + std::to_string(number);
    } else if (line == "=== ask") {
      part = kAsk;
    } else if (line == "=== error") {
      part = kError;
    } else if (part == kRules) {
      out.back().toml += line + "\n";
    } else if (line.starts_with("#") || line.empty()) {
      continue;
    } else if (part == kError) {
      out.back().error = line;
    } else if (part == kAsk && line.starts_with("? ")) {
      out.back().asked.emplace_back(line.substr(2), "");
    } else if (part == kAsk && line.starts_with("= ")) {
      out.back().asked.back().second = line.substr(2);
    } else {
      ADD_FAILURE() << path << ":" << number << ": what is this? " << line;
    }
  }
  return out;
}

std::string said(const std::optional<Match>& match) {
  if (!match) return "none";
  if (!match->route.empty()) return std::string(match->rule) + " -> " + std::string(match->route);
  return std::string(match->rule) + ": " + match->answer;
}

TEST(Rules, Cases) {
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HENGSHI_SOURCE_DIR "/tests/cases/rules")) {
    for (const Case& one : read_cases(entry.path())) {
      SCOPED_TRACE(one.where);
      ++cases;
      const auto rules = RuleSet::parse(one.toml, "rules.toml");
      EXPECT_EQ(rules ? "" : rules.error().message, one.error);
      if (!rules) continue;
      for (const auto& [question, expected] : one.asked) {
        EXPECT_EQ(said((*rules)->match(question, text::detect_language(question))), expected) << question;
      }
    }
  }
  EXPECT_GT(cases, 30);
}

TEST(Rules, AnEmptyFileHasNoRules) {
  const auto rules = RuleSet::parse("# nothing yet\n", "rules.toml");
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_EQ((*rules)->size(), 0U);
  EXPECT_FALSE((*rules)->match("anything", text::Language::kEnglish));
}

TEST(Rules, VersionIsOfTheBytes) {
  const auto a = RuleSet::parse("# a\n", "rules.toml");
  const auto b = RuleSet::parse("# b\n", "rules.toml");
  EXPECT_EQ((*a)->version().size(), 12U);
  EXPECT_NE((*a)->version(), (*b)->version());
}

TEST(Rules, TellsItsRoutes) {
  const auto rules = RuleSet::parse(
      "[[rule]]\nname = 'a'\npatterns = ['x']\nroute = 'code'\n"
      "[[rule]]\nname = 'b'\npatterns = ['y']\nanswer = 'z'\n",
      "rules.toml");
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_EQ((*rules)->routes(), std::vector<std::string>{"code"});
}

TEST(Rules, ManyPatternsThatTogetherOutgrowTheAutomatonStillMatch) {
  std::string toml;
  for (int i = 0; i < 300; ++i) {
    const std::string n = std::to_string(i);
    toml.append("[[rule]]\nname = 'r").append(n).append("'\npatterns = ['a.{0,40}b.{0,40}[^0-9]").append(n);
    toml.append("$']\nanswer = '").append(n).append("'\n");
  }
  const auto rules = RuleSet::parse(toml, "rules.toml");
  ASSERT_TRUE(rules) << rules.error().message;
  std::string question;
  for (int i = 0; i < 200; ++i) question += "ab ba aab abb "[i % 14];
  question += "ab 257";
  const auto match = (*rules)->match(question, text::Language::kEnglish);
  EXPECT_EQ(said(match), "r257: 257");
}

TEST(Rules, AMissingFileIsNamed) {
  const auto rules = RuleSet::load("/nowhere/rules.toml");
  ASSERT_FALSE(rules);
  EXPECT_EQ(rules.error().message, "cannot read the rules file /nowhere/rules.toml");
  EXPECT_FALSE(RuleSet::load("/tmp"));
}

}  // namespace
}  // namespace hengshi::rules
