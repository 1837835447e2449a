#include "train/fit_model.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "light/opinion.h"
#include "train/embed.h"
#include "train/folds.h"
#include "train/noise_copies.h"
#include "train/toy.h"

namespace hengshi::train {
namespace {

constexpr std::array<std::string_view, 4> kWords = {"lamp", "router", "vacuum", "speaker"};
constexpr uint32_t kIntents = 4;

Examples toy_rows(size_t per_intent, uint64_t seed) {
  const ToyEncoder encoder;
  Rng rng(seed);
  std::vector<Question> questions;
  for (uint32_t intent = 0; intent < kIntents; ++intent) {
    for (size_t i = 0; i < per_intent; ++i) questions.push_back({toy_question(kWords[intent], rng), intent});
  }
  for (size_t i = 0; i < per_intent; ++i) {
    const std::string word = "poem" + std::to_string(rng.below(5));
    questions.push_back({toy_question(word, rng), kIntents});
  }
  return embed(encoder, questions, false);
}

Fitted fit_toy(uint64_t seed) {
  return fit_model(toy_rows(30, 1), toy_rows(0, 1), {kIntents, text::Language::kEnglish}, {.seed = seed});
}

TEST(FitModel, LearnsWhatCanBeLearned) {
  const Fitted fitted = fit_toy(1);
  const Examples test = toy_rows(40, 99);
  size_t right = 0;
  for (size_t i = 0; i < test.size(); ++i) {
    const auto opinion = light::form_opinion(fitted.weights, test.normalised[i], test.embedding(i));
    const bool answered = opinion.refused_because.empty() && opinion.confidence >= fitted.thresholds.front().value;
    right += test.labels[i] == kIntents ? !answered : opinion.scope > 0.5 && opinion.intent == test.labels[i];
  }
  EXPECT_GE(right, test.size() * 97 / 100);
  EXPECT_LT(fitted.thresholds.front().value, 0.99);
  EXPECT_NE(fitted.thresholds.front().how.find("held-out rows"), std::string::npos);
}

TEST(FitModel, TheSameSeedGivesTheSameBytes) {
  const Examples train = toy_rows(30, 1), dev = toy_rows(250, 2);  // enough of dev: no folds
  const auto bytes = [&](uint64_t seed) {
    return light::write_weights(fit_model(train, dev, {kIntents, text::Language::kEnglish}, {.seed = seed}).weights);
  };
  const std::string once = bytes(3);
  EXPECT_EQ(once, bytes(3));
  EXPECT_NE(once, bytes(4));
}

TEST(FitModel, ACopyStaysWithTheQuestionItIsOf) {
  const auto noise = Noise::load(text::Language::kEnglish);
  ASSERT_TRUE(noise);
  Examples rows = toy_rows(30, 1);
  add_copies(rows, ToyEncoder(), *noise, 2, 1, false);
  const Split split = split_for_judge(rows, toy_rows(0, 1), {kIntents, text::Language::kEnglish}, 3, {});
  ASSERT_EQ(split.fold.size(), rows.size());
  for (size_t c = 0; c < rows.origins.size(); ++c) {
    EXPECT_EQ(split.fold[rows.originals() + c], split.fold[rows.origins[c]]);
  }
  const Fitted fitted = fit_model(rows, toy_rows(0, 1), {kIntents, text::Language::kEnglish}, {.seed = 1});
  EXPECT_EQ(fitted.held_out.size(), rows.originals());  // each question once, as it is written
  EXPECT_LT(fitted.thresholds.front().value, 0.99);
}

TEST(FitHeads, CopiesStandForPasses) {
  Examples rows = toy_rows(10, 1);
  EXPECT_EQ(passes_over(rows, 20), 20U);
  const auto noise = Noise::load(text::Language::kEnglish);
  ASSERT_TRUE(noise);
  add_copies(rows, ToyEncoder(), *noise, 1, 1, false);
  EXPECT_NEAR(static_cast<double>(passes_over(rows, 20)), 10, 1);
  EXPECT_EQ(passes_over(rows, 4), 8U);
}

TEST(FitModel, ALongQuestionIsAnotherKind) {
  const Fitted fitted = fit_toy(1);
  const Examples test = toy_rows(1, 5);
  std::string long_one;
  for (int i = 0; i < 40; ++i) long_one += "lamp please ";
  EXPECT_EQ(light::form_opinion(fitted.weights, long_one, test.embedding(0)).refused_because, "too_long");
}

TEST(Folds, ShareNoTextAndSpreadLabels) {
  std::vector<std::string> texts;
  std::vector<uint32_t> labels;
  for (uint32_t i = 0; i < 200; ++i) {
    texts.push_back("question " + std::to_string(i % 100));
    labels.push_back(i % 4);
  }
  const auto fold = make_folds(texts, labels, 5, 1);
  std::vector<std::set<uint32_t>> seen(5);
  std::vector<size_t> sizes(5);
  for (size_t i = 0; i < fold.size(); ++i) {
    EXPECT_EQ(fold[i], fold[(i + 100) % 200]);
    seen[fold[i]].insert(labels[i]);
    ++sizes[fold[i]];
  }
  for (size_t f = 0; f < 5; ++f) {
    EXPECT_EQ(seen[f].size(), 4U);
    EXPECT_EQ(sizes[f], 40U);
  }
  EXPECT_EQ(fold, make_folds(texts, labels, 5, 1));
  EXPECT_NE(fold, make_folds(texts, labels, 5, 2));
}

}  // namespace
}  // namespace hengshi::train
