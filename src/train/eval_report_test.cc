#include "train/eval_report.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/metrics.h"

namespace hengshi::train {
namespace {

TEST(EvalReport, ASeedWithoutTheFigureHasNoPartInItsMean) {
  const auto figures = summarise({{{"accuracy", 90}, {"at98.precision", kNoAnswers}, {"at98.coverage", 0}},
                                  {{"accuracy", 92}, {"at98.precision", 99}, {"at98.coverage", 40}}});
  EXPECT_EQ(json_line(figures), R"({"accuracy":91,"at98":{"precision":99,"coverage":20}})");
  EXPECT_NEAR(deviation_of(figures, "accuracy"), std::sqrt(2), 1e-12);
  EXPECT_EQ(deviation_of(figures, "at98.precision"), 0);
}

TEST(EvalReport, WhatNoSeedHasIsNull) {
  EXPECT_EQ(json_line(summarise({{{"at98.precision", kNoAnswers}}})), R"({"at98":{"precision":null}})");
}

}  // namespace
}  // namespace hengshi::train
