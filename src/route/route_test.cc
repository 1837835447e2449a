#include "route/route.h"

#include <gtest/gtest.h>

namespace hengshi::route {
namespace {

Facts plain() { return {.has_question = true, .language = "zh", .question_characters = 10}; }

TEST(Plan, APlainQuestionMayUseEveryTier) {
  const Plan p = plan(plain(), {});
  EXPECT_TRUE(p.read_exact && p.read_semantic && p.rules && p.light && p.write_exact && p.write_semantic);
  EXPECT_EQ(p.local_refused, "");
}

TEST(Plan, WhatNoLocalTierCanHonourKeepsThemOut) {
  for (const auto& [facts, why] : std::initializer_list<std::pair<Facts, const char*>>{
           {{.concrete_model = true, .has_question = true, .language = "zh"}, "concrete_model"},
           {{.has_question = true, .beyond_local = "tools", .language = "zh"}, "tools"},
           {{.has_question = true, .has_history = true, .language = "zh"}, "history"},
           {{.language = "zh"}, "no_question"},
           {{.has_question = true, .language = "zh", .question_characters = 201}, "long"},
           {{.has_question = true, .has_system = true, .language = "zh", .question_characters = 201}, "long"}}) {
    const Plan p = plan(facts, {});
    EXPECT_EQ(p.local_refused, why);
    EXPECT_FALSE(p.read_semantic || p.write_semantic || p.rules || p.light) << why;
    EXPECT_TRUE(p.read_exact && p.write_exact) << why;
  }
}

TEST(Plan, ASystemPromptKeepsRulesAndLightOutUnlessTheRouteIgnoresIt) {
  Facts facts = plain();
  facts.has_system = true;
  const Plan kept = plan(facts, {});
  EXPECT_EQ(kept.local_refused, "system");
  EXPECT_TRUE(kept.read_semantic && !kept.rules && !kept.light);
  const Plan ignored = plan(facts, {.ignore_system = true});
  EXPECT_TRUE(ignored.rules && ignored.light);
}

TEST(Plan, NoGuardsKnowAnotherLanguage) {
  Facts facts = plain();
  facts.language = "other";
  const Plan p = plan(facts, {});
  EXPECT_TRUE(p.read_exact && p.rules && p.light);
  EXPECT_FALSE(p.read_semantic || p.write_semantic);
}

TEST(Plan, TheClientMayBypassTheCaches) {
  Facts facts = plain();
  facts.bypass_read = true;
  EXPECT_FALSE(plan(facts, {}).read_exact || plan(facts, {}).read_semantic);
  EXPECT_TRUE(plan(facts, {}).write_exact);
  facts.bypass_write = true;
  EXPECT_FALSE(plan(facts, {}).write_exact || plan(facts, {}).write_semantic);
}

TEST(Plan, TheRouteSwitchesTiersOff) {
  const Plan p = plan(plain(), {.exact = false, .semantic = false, .rules = false, .light = false});
  EXPECT_FALSE(p.read_exact || p.read_semantic || p.rules || p.light || p.write_exact || p.write_semantic);
}

}  // namespace
}  // namespace hengshi::route
