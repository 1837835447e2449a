#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>

#include "light/artifact.h"
#include "light/light.h"
#include "light/test_artifact.h"

namespace hengshi::light {
namespace {

namespace fs = std::filesystem;

class ModelTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (fs::temp_directory_path() / ("light_model_test." + std::to_string(::getpid())) / "shop" / "zh").string();
    const auto written = write_artifact(folder_, toy_manifest(), toy_weights(), toy_answers());
    ASSERT_TRUE(written) << written.error().message;
    version_once_ = written->version;
  }
  void TearDown() override { fs::remove_all(fs::path(folder_).parent_path().parent_path()); }

  std::string read(const char* name) const {
    std::ifstream in(folder_ + "/" + name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  void write(const char* name, const std::string& bytes) const {
    std::ofstream(folder_ + "/" + name, std::ios::binary) << bytes;
  }
  std::string load_error() const {
    const auto model = Model::load(folder_);
    return model ? "none" : model.error().message;
  }

  std::string folder_, version_once_;
};

constexpr std::array<float, 3> kOrder = {1, 0, 0}, kRefund = {0, 1, 0}, kForeign = {0, 0, 1};

TEST_F(ModelTest, TellsWhatItIs) {
  const auto model = Model::load(folder_);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->name(), "shop");
  EXPECT_EQ((*model)->version(), version_once_);
  EXPECT_EQ((*model)->version().size(), 12U);
  EXPECT_EQ((*model)->encoder_version(), "abc123");
  EXPECT_EQ((*model)->language(), text::Language::kChinese);
  EXPECT_EQ((*model)->intents(), 2U);
}

TEST_F(ModelTest, AnswersByKeyAndFillsSlots) {
  const auto model = *Model::load(folder_);
  const Verdict even = model->ask("怎么退款", kRefund, 0), odd = model->ask("怎么退款", kRefund, 1);
  EXPECT_EQ(even.intent, "refund");
  EXPECT_FALSE(even.refused);
  EXPECT_GT(even.confidence, 0.8);
  EXPECT_EQ(even.threshold, 0.8);
  EXPECT_EQ(even.answer, "七天内可以退款。");
  EXPECT_EQ(odd.answer, "请在订单页申请退款。");
  EXPECT_EQ(model->ask("怎么退款", kRefund, 1).answer, odd.answer);
  EXPECT_EQ(model->ask("单号AB123到哪了", kOrder, 0).answer, "订单 AB123 在路上。");
}

TEST_F(ModelTest, RefusesWhatItMustNotAnswer) {
  const auto model = *Model::load(folder_);
  const Verdict no_slot = model->ask("订单到哪了", kOrder, 0);
  EXPECT_TRUE(no_slot.refused);
  EXPECT_EQ(no_slot.refused_because, "missing_slot");
  EXPECT_EQ(no_slot.intent, "order");
  EXPECT_TRUE(no_slot.answer.empty());
  const Verdict foreign = model->ask("写一首诗", kForeign, 0);
  EXPECT_TRUE(foreign.refused);
  EXPECT_EQ(foreign.refused_because, "out_of_scope");
  const Verdict long_one = model->ask("退款退款退款退款退款退款退款退款退款退款退", kRefund, 0);
  EXPECT_EQ(long_one.refused_because, "too_long");
}

TEST_F(ModelTest, RoundTripKeepsEveryNumber) {
  const auto artifact = read_artifact(folder_);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(write_weights(artifact->weights), write_weights(toy_weights()));
  EXPECT_EQ(artifact->manifest.threshold.how, "by \"hand\"");
  EXPECT_EQ(artifact->manifest.metrics.front().second, 91.5);
  EXPECT_EQ(artifact->manifest.seed, 7U);
}

TEST_F(ModelTest, ASecondTrainingReplacesTheFirstWhole) {
  Manifest manifest = toy_manifest();
  manifest.seed = 8;
  const auto written = write_artifact(folder_, manifest, toy_weights(), toy_answers());
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_NE(written->version, version_once_);
  EXPECT_EQ((*Model::load(folder_))->version(), written->version);
  // Nothing else is left there but the earlier one.
  EXPECT_EQ(std::distance(fs::directory_iterator(fs::path(folder_).parent_path()), fs::directory_iterator()), 2);
  EXPECT_TRUE(fs::exists(folder_ + ".versions/" + version_once_ + "/weights.bin"));
}

TEST_F(ModelTest, AnotherThresholdIsAnotherVersionOfTheSameWeights) {
  const std::string weights = read("weights.bin"), answers = read("answers.json");
  const auto written = write_threshold(folder_, {0.625, 0.5, 0.9, "by labels", true}, "2024-02-29T12:00:00Z");
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_NE(written->version, version_once_);
  const auto artifact = read_artifact(folder_);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_EQ(artifact->version, written->version);
  EXPECT_EQ(artifact->manifest.threshold.value, 0.625);
  EXPECT_EQ(artifact->manifest.threshold.how, "by labels");
  EXPECT_TRUE(artifact->manifest.threshold.calibrated);
  EXPECT_EQ(artifact->manifest.created, "2024-02-29T12:00:00Z");
  EXPECT_EQ(artifact->manifest.metrics, toy_manifest().metrics);
  EXPECT_EQ(read("weights.bin"), weights);
  EXPECT_EQ(read("answers.json"), answers);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 3);
  write("weights.bin", weights + "x");
  EXPECT_FALSE(write_threshold(folder_, {}, ""));
}

TEST_F(ModelTest, TheSameAgainIsTheSameVersionAndLeavesTheOneThere) {
  Manifest later = toy_manifest();
  later.created = "2025-01-31T12:00:00Z";
  const auto again = write_artifact(folder_, later, toy_weights(), toy_answers());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_TRUE(again->unchanged);
  EXPECT_EQ(again->version, version_once_);
  EXPECT_EQ(read_artifact(folder_)->manifest.created, toy_manifest().created);
  EXPECT_FALSE(fs::exists(folder_ + ".versions"));
  EXPECT_FALSE(write_threshold(folder_, {0.625}, later.created)->unchanged);
  EXPECT_TRUE(write_threshold(folder_, {0.625}, "")->unchanged);
}

TEST_F(ModelTest, TheSameAgainMendsWhatIsDamaged) {
  write("weights.bin", "torn");
  const auto again = write_artifact(folder_, toy_manifest(), toy_weights(), toy_answers());
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->unchanged);
  EXPECT_EQ(again->version, version_once_);
  EXPECT_EQ(load_error(), "none");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ + ".versions"), {}), 0);  // the torn one is not kept
}

TEST_F(ModelTest, AFolderThatIsNoneOfALightModelIsNamedWithWhatIsExpected) {
  const fs::path shop = fs::path(folder_).parent_path();
  const std::string expected =
      "; expected is the folder of a light model with its manifest.json, such as artifacts/<pack>/<language>, which "
      "`hengshi train` writes";
  const auto error = [](const fs::path& path) { return read_artifact(path.string()).error(); };
  EXPECT_EQ(error(shop / "none").message, (shop / "none").string() + ": is not there" + expected);
  EXPECT_EQ(error(shop / "none").code, ErrorCode::kNotFound);
  EXPECT_EQ(error(shop / "zh/weights.bin").message, folder_ + "/weights.bin: is no folder" + expected);
  EXPECT_EQ(error(shop).message, shop.string() + ": holds no manifest.json" + expected + "; there is " + folder_);
}

TEST_F(ModelTest, AThresholdOfOneIsNever) {
  EXPECT_EQ((*Model::load(folder_))->threshold().in_words(), "0.800");
  ASSERT_TRUE(write_threshold(folder_, {1, 1, 0.95, "too few rows: never answers"}, ""));
  const auto model = *Model::load(folder_);
  EXPECT_TRUE(model->threshold().never());
  EXPECT_EQ(model->threshold().in_words(), "never");
  EXPECT_EQ(model->threshold().how, "too few rows: never answers");
}

TEST_F(ModelTest, AManifestFromBeforeCalibrationWasNotedIsOfATrainedOne) {
  std::string manifest = read("manifest.json");
  const std::string noted = ", \"calibrated\": false";
  manifest.erase(manifest.find(noted), noted.size());
  write("manifest.json", manifest);
  const auto artifact = read_artifact(folder_);
  ASSERT_TRUE(artifact) << artifact.error().message;
  EXPECT_FALSE(artifact->manifest.threshold.calibrated);
}

TEST_F(ModelTest, CorruptFilesAreRefusedByName) {
  std::string weights = read("weights.bin");
  weights[weights.size() / 2] ^= 1;
  write("weights.bin", weights);
  EXPECT_EQ(load_error(),
            folder_ + "/weights.bin: its SHA-256 is not the manifest's; train it again with `hengshi train`");
  fs::remove(folder_ + "/weights.bin");
  EXPECT_EQ(load_error(), folder_ + "/weights.bin: is not there; train it again with `hengshi train`");
}

TEST_F(ModelTest, ManifestsOfAnotherKindAreRefused) {
  const std::string manifest = read("manifest.json");
  write("manifest.json", "{\"format\": 1}");
  EXPECT_EQ(load_error(),
            folder_ + "/manifest.json: format 1 is not the 3 read here; train it again with `hengshi train`");
  write("manifest.json", manifest.substr(0, manifest.size() / 2));
  EXPECT_EQ(load_error(), folder_ + "/manifest.json: it is not JSON; train it again with `hengshi train`");
  write("manifest.json", "{\"format\": 3}");
  EXPECT_EQ(load_error(),
            folder_ + "/manifest.json: a key is missing or of the wrong type; train it again with `hengshi train`");
}

TEST(Weights, CutShortOrChangedIsRefused) {
  const std::string bytes = write_weights(toy_weights());
  ASSERT_TRUE(read_weights(bytes));
  for (size_t n = 0; n < bytes.size(); n += 7) EXPECT_FALSE(read_weights(bytes.substr(0, n))) << n;
  EXPECT_FALSE(read_weights(bytes + "x"));
  Weights infinite = toy_weights();
  infinite.heads.encoder.b2[0] = std::numeric_limits<float>::infinity();
  EXPECT_FALSE(read_weights(write_weights(infinite)));
  Weights some = toy_weights();
  some.confidence.right.per_intent = {0.5F};
  EXPECT_FALSE(read_weights(write_weights(some)));  // one number for two intents
  Weights stray = toy_weights();
  stray.heads.examples.starts = {0, 2, 1};
  EXPECT_FALSE(read_weights(write_weights(stray)));
}

TEST(Confidence, AnIntentMayDifferFromTheMapOfAll) {
  Weights w = toy_weights();
  const Signals signals{};
  EXPECT_FLOAT_EQ(w.confidence.probability(signals, 0), 0.5F);
  EXPECT_GT(w.confidence.probability(signals, 1), 0.55F);
  w.confidence.right.per_intent.clear();
  EXPECT_FLOAT_EQ(w.confidence.probability(signals, 1), 0.5F);
}

TEST(Answers, BadOnesAreNamed) {
  const auto bad = AnswerBook::make({{"order", {"{id}"}, {}}});
  ASSERT_FALSE(bad);
  EXPECT_EQ(bad.error().message, "intent order: answer '{id}' uses {id}, which no slot fills");
  EXPECT_FALSE(AnswerBook::make({{"order", {"x"}, {{"id", {"("}}}}}));
  EXPECT_FALSE(AnswerBook::parse("[]"));
}

}  // namespace
}  // namespace hengshi::light
