#include "train/risk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "train/risk_stream.h"
#include "train/rng.h"

namespace hengshi::train {
namespace {

// In scope, a row is right as often as its confidence says, a little less when `overconfident`.
Scored in_scope_row(Rng& rng, double overconfident) {
  const double confidence = 1 / (1 + std::exp(-(3.2 + 1.5 * rng.normal())));
  return {static_cast<float>(confidence), rng.uniform() < confidence - overconfident, false, true};
}

Scored outside_row(Rng& rng) {
  return {static_cast<float>(1 / (1 + std::exp(-(0.2 + 1.2 * rng.normal())))), false, false, false};
}

std::vector<Scored> draw(size_t in_scope, size_t outside, uint64_t seed, double overconfident = 0.0) {
  Rng rng(seed);
  std::vector<Scored> out;
  out.reserve(in_scope + outside);
  for (size_t i = 0; i < in_scope; ++i) out.push_back(in_scope_row(rng, overconfident));
  for (size_t i = 0; i < outside; ++i) out.push_back(outside_row(rng));
  return out;
}

double risk_at(const std::vector<RiskPoint>& curve, double threshold) {
  double risk = 0;
  for (const RiskPoint& point : curve) {
    if (point.threshold < threshold) break;
    risk = point.risk;
  }
  return risk;
}

TEST(RiskTest, OneSampleIsTheExactBinomial) {
  const RiskAim aim{.risk = 0.05};
  EXPECT_FALSE(rejects_risk({.answered = 58}, aim, 0.05));  // 0.95^58 = 0.0510
  EXPECT_TRUE(rejects_risk({.answered = 59}, aim, 0.05));
  EXPECT_TRUE(rejects_risk({.answered = 200, .wrong = 4}, aim, 0.05));   // P(X <= 4) = 0.0264
  EXPECT_FALSE(rejects_risk({.answered = 200, .wrong = 5}, aim, 0.05));  // 0.0623
  EXPECT_TRUE(rejects_risk({.answered = 200, .wrong = 3, .answered_outside = 1}, aim, 0.05));
  EXPECT_FALSE(rejects_risk({}, aim, 0.05));
  EXPECT_TRUE(rejects_risk({.answered = 200000, .wrong = 9600}, aim, 0.001));  // no underflow
  EXPECT_FALSE(rejects_risk({.answered = 200000, .wrong = 9990}, aim, 0.05));
}

// The edge of the hypothesis: everything answered is wrong as often as allowed, split in several ways over the samples.
TEST(RiskTest, TwoSamplesKeepTheirLevelOnTheEdge) {
  const RiskAim aim{.risk = 0.05, .delta = 0.05, .oos_share = 0.18};
  Rng rng(7);
  for (const double wrong : {0.0, 0.01, 0.025, 0.04, 0.0499}) {
    const double answered = 0.9;
    const double outside = (1 - 0.18) * answered * (0.05 - wrong) / (0.18 * 0.95);
    int rejected = 0;
    constexpr int kDraws = 1500;
    for (int d = 0; d < kDraws; ++d) {
      RiskCounts c{.in_scope = 600, .out_of_scope = 100};
      for (size_t i = 0; i < c.in_scope; ++i) {
        if (rng.uniform() >= answered) continue;
        ++c.answered;
        c.wrong += rng.uniform() < wrong ? 1 : 0;
      }
      for (size_t i = 0; i < c.out_of_scope; ++i) c.answered_outside += rng.uniform() < outside ? 1 : 0;
      rejected += rejects_risk(c, aim, 0.05) ? 1 : 0;
    }
    EXPECT_LE(rejected, kDraws * 0.05 + 2 * std::sqrt(kDraws * 0.05 * 0.95)) << wrong;
    if (wrong > 0.005 && wrong < 0.045) {  // and are not idle
      EXPECT_GE(rejected, kDraws * 0.015) << wrong;
    }
  }
}

TEST(RiskTest, TwoSamplesNeedBoth) {
  const RiskAim aim{.risk = 0.05, .delta = 0.05, .oos_share = 0.1};
  EXPECT_FALSE(rejects_risk({.in_scope = 500, .answered = 400}, aim, 0.05));
  EXPECT_FALSE(rejects_risk({.out_of_scope = 500}, aim, 0.05));
  EXPECT_TRUE(rejects_risk({.in_scope = 500, .answered = 400, .out_of_scope = 100}, aim, 0.05));
  EXPECT_TRUE(rejects_risk({.in_scope = 500, .answered = 400}, {.risk = 0.05, .delta = 0.05, .oos_share = 0.0}, 0.05));
}

TEST(RiskTest, CertifiedThresholdsHoldAsOftenAsPromised) {
  const std::vector<Scored> population = draw(100000, 50000, 99, 0.005);
  for (const double share : {0.1, 0.25}) {
    const std::vector<RiskPoint> curve = risk_coverage(population, share);
    int broken = 0, certified = 0;
    double risk = 0;
    for (uint64_t seed = 1; seed <= 200; ++seed) {
      const Certificate one = certify(draw(1500, 300, seed, 0.005), {.risk = 0.05, .delta = 0.1, .oos_share = share});
      if (!one.certified) continue;
      ++certified;
      const double real = risk_at(curve, one.threshold);
      risk += real;
      broken += real > 0.05 ? 1 : 0;
    }
    EXPECT_GT(certified, 160);
    EXPECT_LE(broken, 200 * 0.1 + 2 * std::sqrt(200 * 0.1 * 0.9));
    EXPECT_GT(risk / certified, 0.02);  // not for lack of answers
  }
}

TEST(RiskTest, TooFewLabelsAreRefusedWithHowManyWouldDo) {
  const RiskAim aim{.risk = 0.05, .delta = 0.05};
  std::vector<Scored> rows(40, Scored{0.99F, true, false, true});
  const Certificate few = certify(rows, aim);
  EXPECT_FALSE(few.certified);
  EXPECT_EQ(few.threshold, 1);
  EXPECT_EQ(few.labels, 40U);
  EXPECT_GE(few.needed, 59U);
  EXPECT_LE(few.needed, 70U);
  rows.resize(few.needed + 1, rows.front());
  EXPECT_TRUE(certify(rows, aim).certified);
  EXPECT_EQ(certify(rows, aim).threshold, 0.95);  // below nothing was seen: the confidence is all there is to go by
  const std::vector<Scored> bad(500, Scored{0.99F, false, false, true});
  EXPECT_FALSE(certify(bad, aim).certified);
  EXPECT_EQ(certify(bad, aim).needed, 0U);
  EXPECT_EQ(certify({}, aim).needed, 0U);
}

TEST(RiskTest, AsManyLabelsAsWouldDoDo) {
  size_t refused = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const std::vector<Scored> rows = draw(250, 60, seed);
    const RiskAim aim{.risk = 0.05, .delta = 0.05, .oos_share = 0.15};
    const Certificate few = certify(rows, aim);
    if (few.certified || few.needed == 0) continue;
    ++refused;
    EXPECT_GT(few.needed, rows.size());
    std::vector<Scored> more;
    while (more.size() < few.needed) more.insert(more.end(), rows.begin(), rows.end());
    EXPECT_TRUE(certify(more, aim).certified) << seed;
  }
  EXPECT_GE(refused, 10U);
}

TEST(RiskTest, RefusedRowsAreNotAnswered) {
  std::vector<Scored> rows(100, Scored{0.99F, true, false, true});
  rows.resize(200, Scored{0.99F, false, true, true});
  const Certificate one = certify(rows, {});
  EXPECT_TRUE(one.certified);
  EXPECT_EQ(one.counts.answered, 100U);
  EXPECT_EQ(one.counts.wrong, 0U);
}

TEST(RiskTest, StepsHandDownTheirShare) {
  const std::vector<RiskStep> steps = {{0.9, 0.5}, {0.8, 0}, {0.7, 0.5}, {0.6, 0}};
  std::vector<double> levels;
  const auto with = [&](std::vector<bool> rejected) {
    levels.clear();
    return last_certified(std::span<const RiskStep>(steps), 0.1, [&](size_t i, double level) {
      levels.push_back(level);
      return rejected[i];
    });
  };
  EXPECT_EQ(with({true, true, true, true}), 3U);
  EXPECT_EQ(levels, (std::vector<double>{0.05, 0.05, 0.1, 0.1}));
  EXPECT_EQ(with({true, false, true, false}), 2U);
  EXPECT_EQ(levels, (std::vector<double>{0.05, 0.05, 0.05, 0.05}));
  EXPECT_EQ(with({false, true, false, true}), std::nullopt);
  double sum = 0;
  for (const RiskStep& step : risk_steps(0.02)) sum += step.share;
  EXPECT_DOUBLE_EQ(sum, 1);
}

void add_one(RiskStream& stream, const Scored& row, uint64_t key) { stream.add({&row, 1}, {&key, 1}); }

std::vector<uint64_t> keys_from(uint64_t first, size_t count) {
  std::vector<uint64_t> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

TEST(RiskStreamTest, HoldsHoweverOftenOneLooks) {
  // Every threshold is a little too risky, so any certificate at any time is a broken one.
  int broken = 0;
  constexpr int kRuns = 400;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    Rng rng(seed);
    RiskStream stream("m", 0.1, 0.1);
    for (uint64_t i = 0; i < 600 && !stream.threshold(); ++i) {
      add_one(stream, {0.2F + 0.799F * rng.uniform(), rng.uniform() > 0.1, false, true}, i);
    }
    broken += stream.threshold() ? 1 : 0;
  }
  EXPECT_LE(broken, kRuns * 0.1 + 2 * std::sqrt(kRuns * 0.1 * 0.9));
}

TEST(RiskStreamTest, CertifiesWhatIsGoodAndGoesOnWhereItWasSaved) {
  Rng rng(3);
  RiskStream whole("m", 0.05, 0.05), part("m", 0.05, 0.05);
  for (uint64_t i = 0; i < 3000; ++i) {
    const Scored row = rng.uniform() < 0.15 ? outside_row(rng) : in_scope_row(rng, 0.0);
    add_one(whole, row, i);
    add_one(part, row, i);
    if (i % 500 != 0) continue;
    auto again = RiskStream::restore(part.save());
    ASSERT_TRUE(again) << again.error().message;
    part = std::move(*again);
  }
  ASSERT_TRUE(whole.threshold());
  EXPECT_EQ(whole.threshold(), part.threshold());
  EXPECT_EQ(whole.save(), part.save());
  EXPECT_EQ(part.labels(), 3000U);
  const std::vector<RiskPoint> curve = risk_coverage(draw(100000, 30000, 5), 0.15);
  const double risk = risk_at(curve, whole.threshold().value_or(1));
  EXPECT_LT(risk, 0.05);
  EXPECT_GT(risk, 0.02);
}

TEST(RiskStreamTest, RowsSortedByLabelOrScoreCertifyNothingFalse) {
  std::vector<Scored> rows(1000, Scored{0.96F, true, false, true});
  rows.resize(1120, Scored{0.96F, false, false, true});  // 10.7 % wrong, at the end
  RiskStream sorted("m", 0.05, 0.05);
  sorted.add(rows, keys_from(0, rows.size()));
  EXPECT_FALSE(sorted.threshold());
  RiskStream good("m", 0.05, 0.05);
  good.add(std::span(rows).first(1020), keys_from(0, 1020));  // 2 %
  EXPECT_TRUE(good.threshold());

  Rng rng(4);
  std::vector<Scored> drawn = draw(2000, 300, 4, 0.05);
  std::sort(drawn.begin(), drawn.end(), [](const Scored& a, const Scored& b) { return a.confidence > b.confidence; });
  RiskStream by_score("m", 0.05, 0.05);
  by_score.add(drawn, keys_from(0, drawn.size()));
  const double threshold = by_score.threshold().value_or(1);
  EXPECT_LE(risk_at(risk_coverage(draw(100000, 15000, 5, 0.05), {}), threshold), 0.05);
}

TEST(RiskStreamTest, WhatTooManyRowsSpeakAgainstIsTakenBack) {
  RiskStream stream("m", 0.05, 0.05);
  stream.add(std::vector<Scored>(300, Scored{0.96F, true, false, true}), keys_from(0, 300));
  EXPECT_TRUE(stream.threshold());
  stream.add(std::vector<Scored>(15, Scored{0.96F, false, false, true}), keys_from(300, 15));
  EXPECT_TRUE(stream.threshold());  // 4.8 %
  stream.add(std::vector<Scored>(5, Scored{0.96F, false, false, true}), keys_from(315, 5));
  EXPECT_FALSE(stream.threshold());  // 6.3 %
}

TEST(RiskStreamTest, RowsOfAnEarlierRunDoNotCountAgain) {
  const std::vector<Scored> rows(60, Scored{0.96F, true, false, true});
  const auto add = [&](RiskStream& to, const std::vector<uint64_t>& keys) {
    return to.add(std::span(rows).first(keys.size()), keys);
  };
  const std::vector<uint64_t> first = keys_from(0, 20);
  RiskStream stream("m", 0.05, 0.05);
  EXPECT_EQ(add(stream, first).again, 0U);
  EXPECT_EQ(stream.labels(), 20U);
  EXPECT_EQ(add(stream, first).again, 20U);  // the very same
  EXPECT_EQ(add(stream, {first.rbegin(), first.rend()}).again, 20U);
  EXPECT_EQ(add(stream, keys_from(0, 30)).again, 20U);  // grown at its end …
  EXPECT_EQ(stream.labels(), 30U);
  auto restored = RiskStream::restore(stream.save());
  ASSERT_TRUE(restored) << restored.error().message;
  RiskStream& again = *restored;
  EXPECT_EQ(add(again, keys_from(0, 35)).again, 30U);  // … and again
  std::vector<uint64_t> newest_first = keys_from(100, 5);
  newest_first.insert(newest_first.end(), first.begin(), first.end());
  EXPECT_EQ(add(again, newest_first).again, 20U);
  EXPECT_EQ(again.labels(), 40U);
  const auto asked_again = add(again, {200, 7, 7, 201});  // questions that are asked again are rows of their own
  EXPECT_EQ(asked_again.again, 0U);
  EXPECT_EQ(asked_again.alike, 2U);
  EXPECT_EQ(again.labels(), 44U);
}

TEST(RiskStreamTest, AStateThatCannotBeIsRefused) {
  const std::string good = RiskStream("m", 0.05, 0.05).save();
  ASSERT_TRUE(RiskStream::restore(good));
  for (const auto& [from, to] : {std::pair{"\"format\":2", "\"format\":1"},
                                 {"\"risk\":0.05", "\"risk\":1.5"},
                                 {"\"runs\":[]", "\"runs\":\"x\""},
                                 {"\"runs\":[]", "\"runs\":[[]]"},
                                 {"\"runs\":[]", "\"runs\":[7]"},
                                 {"\"runs\":[]", "\"runs\":[[\"7\"]]"},
                                 {"\"runs\":[]", "\"runs\":[[7,6]]"},
                                 {"[0,0,0,0],", ""},
                                 {"[0,0,0,0],", "[0,1,0,0],"},
                                 {"[0,0,0,0],", "[0,0,1,0],"},
                                 {"[0,0,0,0],", "[5,0,0,0],"},
                                 {"[0,0,0,0],", "[0,0],"},
                                 {"{", ""}}) {
    std::string bad = good;
    bad.replace(bad.find(from), std::string(from).size(), to);
    EXPECT_FALSE(RiskStream::restore(bad)) << from << " -> " << to;
  }
}

}  // namespace
}  // namespace hengshi::train
