#include "train/fit_tuned.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "light/opinion.h"
#include "nn/test_model.h"
#include "train/embed.h"
#include "train/noise_copies.h"
#include "train/rng.h"
#include "train/tuning_plots.h"

namespace hengshi::train {
namespace {

constexpr uint32_t kIntents = 3;

// The test model knows two dozen word pieces; one of them is the intent.
std::vector<Question> questions(size_t count, uint64_t seed) {
  static constexpr const char* kWords[] = {"router", "reset", "caf", "my"};
  static constexpr const char* kFillers[] = {"a", "un", "wi", "fi", "b"};
  Rng rng(seed);
  std::vector<Question> out;
  for (size_t i = 0; i < count; ++i) {
    const auto label = static_cast<uint32_t>(rng.below(kIntents + 1));
    std::string text;
    for (size_t k = 0, n = rng.below(3); k < n; ++k) text += std::string(kFillers[rng.below(5)]) + " ";
    text += kWords[label];
    for (size_t k = 0, n = rng.below(2); k < n; ++k) text += std::string(" ") + kFillers[rng.below(5)];
    out.push_back({text, label});
  }
  return out;
}

class FitTunedTest : public testing::Test {
 public:
  FitTunedTest() : frozen(std::move(*nn::Encoder::load(folder.path()))) {
    train = embed(*frozen, questions(120, 1), false);
    none.dim = train.dim;
    settings = {.base = folder.path(), .work = folder.path() + "/work", .passes = 8, .rate = 1e-3};
  }
  Result<TunedFit> fit(const Noise* noise = nullptr) {
    return fit_tuned_model(train, none, task, {.seed = 1, .noise = noise}, settings);
  }

  // Of questions that trained nothing.
  static size_t right_of_60(const TunedFit& tuned) {
    const Examples test = embed(*tuned.encoder, questions(60, 2), false);
    size_t right = 0;
    for (size_t i = 0; i < test.size(); ++i) {
      const auto opinion = light::form_opinion(tuned.fitted.weights, test.normalised[i], test.embedding(i));
      right += test.labels[i] == kIntents ? opinion.scope < 0.5 : opinion.intent == test.labels[i];
    }
    return right;
  }

  nn::TestFolder folder;
  std::unique_ptr<const nn::Encoder> frozen;
  Examples train, none;
  Task task{kIntents, text::Language::kEnglish};
  TuneSettings settings;
};

TEST_F(FitTunedTest, TheModelAndItsEncoderKnowTheQuestions) {
  const auto tuned = fit();
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_NE(tuned->encoder->version(), frozen->version());
  EXPECT_EQ(tuned->history.size(), 8U);
  EXPECT_GE(right_of_60(*tuned), 57U);
  const auto again = nn::Encoder::load(tuned->folder);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->version(), tuned->encoder->version());
}

TEST_F(FitTunedTest, ItsPlotsLieBesideIt) {
  settings.passes = 2;
  const auto tuned = fit();
  ASSERT_TRUE(tuned) << tuned.error().message;
  ASSERT_TRUE(write_plots(*tuned, tuned->folder));
  for (const char* const name : {"/loss.svg", "/risk_coverage.svg"}) {
    const auto bytes = read_file(tuned->folder + name);
    ASSERT_TRUE(bytes);
    EXPECT_TRUE(bytes->starts_with("<svg")) << *bytes;
  }
  EXPECT_FALSE(write_plots(*tuned, tuned->folder + "/none"));
}

TEST_F(FitTunedTest, GoneOnFromItsCheckpointsItIsTheSame) {
  const auto once = fit();
  ASSERT_TRUE(once) << once.error().message;
  const std::string bytes = light::write_weights(once->fitted.weights);
  for (const auto& entry : std::filesystem::directory_iterator(settings.work)) {
    if (entry.is_directory()) std::filesystem::remove_all(entry.path());  // the models; the checkpoints stay
  }
  const auto again = fit();
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(light::write_weights(again->fitted.weights), bytes);
  EXPECT_EQ(again->encoder->version(), once->encoder->version());
}

TEST_F(FitTunedTest, WithNoiseItIsAnotherModelAndStillKnowsTheQuestions) {
  const auto noise = Noise::load(text::Language::kEnglish);
  ASSERT_TRUE(noise);
  add_copies(train, *frozen, *noise, 1, 1, false);
  const auto without = fit();
  const auto with = fit(&*noise);
  ASSERT_TRUE(without && with);
  EXPECT_NE(with->encoder->version(), without->encoder->version());
  EXPECT_GE(right_of_60(*with), 54U);
}

TEST_F(FitTunedTest, ThinMatricesWillDo) {
  settings.lora = 4;
  settings.rate = 4e-3;
  const auto tuned = fit();
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_LT(tuned->fitted.thresholds.front().value, 1);
}

TEST_F(FitTunedTest, WhereNothingCanBeWrittenThePathIsNamed) {
  settings.work = folder.path() + "/config.json/work";
  const auto tuned = fit();
  ASSERT_FALSE(tuned);
  EXPECT_NE(tuned.error().message.find("config.json"), std::string::npos);
}

TEST_F(FitTunedTest, AMissingBaseModelIsNamed) {
  settings.base = folder.path() + "/none";
  EXPECT_NE(fit().error().message.find("none"), std::string::npos);
}

}  // namespace
}  // namespace hengshi::train
