#include "train/calibrate.h"

#include <gtest/gtest.h>

#include <cmath>

#include "train/logistic.h"
#include "train/metrics.h"
#include "train/rng.h"

namespace hengshi::train {
namespace {

TEST(Logistic, FindsTheWeightsThatMadeTheData) {
  LogisticData data;
  data.features = 2;
  Rng rng(1);
  const std::vector<double> truth = {1.5, -2.0, 0.5};
  for (int i = 0; i < 20000; ++i) {
    const std::vector<double> row = {rng.normal(), rng.normal()};
    data.rows.insert(data.rows.end(), row.begin(), row.end());
    data.right.push_back(rng.uniform() < 1 / (1 + std::exp(-log_odds(truth, row))) ? 1 : 0);
    data.weight.push_back(1);
  }
  const auto fitted = fit_logistic(data, 1e-3);
  for (size_t i = 0; i < truth.size(); ++i) EXPECT_NEAR(fitted[i], truth[i], 0.12);
}

TEST(Logistic, StaysFiniteWhenEverythingIsRight) {
  const auto fitted = fit_logistic({1, {1, 2, 3}, {1, 1, 1}, {1, 1, 1}}, 1.0);
  EXPECT_TRUE(std::isfinite(fitted[0]) && std::isfinite(fitted[1]));
}

std::vector<Judged> rows_with_known_odds(size_t n) {
  std::vector<Judged> out;
  Rng rng(2);
  for (size_t i = 0; i < n; ++i) {
    Judged row;
    row.signals[0] = 2 * rng.normal() + 1;
    row.signals[3] = rng.normal();  // says nothing
    row.right = rng.uniform() < 1 / (1 + std::exp(-row.signals[0]));
    out.push_back(row);
  }
  return out;
}

TEST(Confidence, IsCalibratedOnRowsItDidNotSee) {
  const auto rows = rows_with_known_odds(4000);
  const FittedConfidence fitted = fit_confidence(rows, 1, 1);
  std::vector<Scored> scored;
  for (size_t i = 0; i < rows.size(); ++i) {
    scored.push_back({fitted.held_out[i], rows[i].right, false, true});
    EXPECT_NEAR(fitted.confidence.probability(rows[i].signals, 0), 1 / (1 + std::exp(-rows[i].signals[0])), 0.06);
  }
  const Ece ece = calibration_error(scored, 0.15, 1);
  EXPECT_LT(ece.ece, ece.floor + 0.02);
}

// Two intents of three are as likely right as the signals say, the third is not.
TEST(Confidence, LearnsWhatIsParticularToAnIntent) {
  Rng rng(5);
  std::vector<Judged> rows = rows_with_known_odds(4000);
  for (Judged& row : rows) {
    row.intent = static_cast<uint32_t>(rng.below(3));
    if (row.intent == 2) row.right = rng.uniform() < 1 / (1 + std::exp(-(row.signals[0] - 2)));
  }
  const light::Regression fitted = fit_confidence(rows, 4, 1).confidence.right;
  ASSERT_EQ(fitted.per_intent.size(), 4U);
  EXPECT_NEAR(fitted.per_intent[0] - fitted.per_intent[2], 2, 0.4);
  EXPECT_NEAR(fitted.per_intent[0], fitted.per_intent[1], 0.3);
  EXPECT_EQ(fitted.per_intent[3], 0);  // never seen: the map of all
}

TEST(Confidence, ThinDataStaysWithTheMapOfAll) {
  Rng rng(6);
  std::vector<Judged> rows = rows_with_known_odds(600);
  for (Judged& row : rows) row.intent = static_cast<uint32_t>(rng.below(60));
  for (const float one : fit_confidence(rows, 60, 1).confidence.right.per_intent) EXPECT_LT(std::fabs(one), 0.5);
}

TEST(Threshold, KeepsItsPromiseWithAMargin) {
  const auto rows = rows_with_known_odds(4000);
  const auto confidence = fit_confidence(rows, 1, 1).held_out;
  const light::Threshold threshold = choose_threshold(rows, confidence, 0.9);
  double right = 0, answered = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (confidence[i] < threshold.value) continue;
    answered += 1;
    right += rows[i].right ? 1 : 0;
  }
  EXPECT_GT(answered, 1000);
  EXPECT_GT(right / answered, 0.9);
  EXPECT_LT(right / answered, 0.93);
  EXPECT_LT(threshold.floor, threshold.value);
  EXPECT_GT(threshold.floor, threshold.value - 0.1);
}

TEST(Threshold, SaysWhenNoneIsGoodEnough) {
  std::vector<Judged> rows(40);
  const std::vector<float> confidence(40, 0.5F);
  const light::Threshold threshold = choose_threshold(rows, confidence, 0.95);
  EXPECT_EQ(threshold.value, 1.0);
  EXPECT_EQ(threshold.floor, 1.0);
  EXPECT_NE(threshold.how.find("never answers"), std::string::npos);
}

TEST(Threshold, RefusedRowsDoNotCount) {
  std::vector<Judged> rows(200);
  std::vector<float> confidence(200, 0.9F);
  for (size_t i = 0; i < 200; ++i) {
    rows[i].refused = i % 2 == 0;
    rows[i].right = i % 2 == 1;
  }
  const double threshold = choose_threshold(rows, confidence, 0.95).value;
  EXPECT_LT(threshold, 0.9);
  EXPECT_GT(threshold, 0.85);
}

TEST(Threshold, WhereNothingWentWrongTheAimIsTheThreshold) {
  std::vector<Judged> rows(200);
  const std::vector<float> confidence(200, 0.999F);
  for (Judged& row : rows) row.right = true;
  EXPECT_EQ(choose_threshold(rows, confidence, 0.95).value, 0.95);
}

TEST(Metrics, ByHand) {
  // confidence, right, refused, in scope, called outside
  std::vector<Scored> rows = {{0.9F, true, false, true},  {0.8F, true, false, true},      {0.7F, false, false, false},
                              {0.6F, false, false, true}, {0.5F, true, true, true, true}, {0.4F, false, true, false}};
  for (Scored& row : rows) row.scope = row.confidence / 2;
  EXPECT_DOUBLE_EQ(accuracy(rows), 50);              // of four in scope two are named and not called outside
  EXPECT_DOUBLE_EQ(oos_auroc(rows), 100.0 * 6 / 8);  // pairs in the right order
  EXPECT_DOUBLE_EQ(oracle_coverage(rows, 0.95), 100.0 * 2 / 6);
  EXPECT_DOUBLE_EQ(oracle_coverage(rows, 0.66), 100.0 * 3 / 6);
  const AtThreshold at = at_threshold(rows, 0.65, 1);
  EXPECT_DOUBLE_EQ(at.precision, 100.0 * 2 / 3);
  EXPECT_DOUBLE_EQ(at.coverage, 50);
  EXPECT_TRUE(std::isnan(at_threshold(rows, 1, 1).precision));  // of no answers
  EXPECT_LT(at.coverage_lo, 50);
  EXPECT_GT(at.coverage_hi, 50);
  rows[4].called_outside = false;  // refused for its shape
  EXPECT_DOUBLE_EQ(accuracy(rows), 75);
}

TEST(Metrics, EceOfAConstantIsItsError) {
  std::vector<Scored> rows;
  rows.reserve(1000);
  for (int i = 0; i < 1000; ++i) rows.push_back({0.9F, i % 10 < 7, false, true});
  const Ece ece = calibration_error(rows, 0.15, 1);
  EXPECT_NEAR(ece.ece, 0.2, 0.01);
  EXPECT_LT(ece.floor, 0.05);
}

}  // namespace
}  // namespace hengshi::train
