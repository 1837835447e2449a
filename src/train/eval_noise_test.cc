#include "train/eval_noise.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "train/toy.h"

namespace hengshi::train {
namespace {

namespace fs = std::filesystem;

class EvalNoiseTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("eval_noise_test." + std::to_string(::getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string write(const char* name, uint64_t seed, size_t per_intent) const {
    static constexpr std::array<std::string_view, 4> kWords = {"lamp", "router", "vacuum", "oos"};
    Rng rng(seed);
    std::ofstream file(root_ / name, std::ios::binary);
    for (const std::string_view word : kWords) {
      for (size_t i = 0; i < per_intent; ++i) {
        file << R"({"text": ")" << toy_question(word == "oos" ? "poem" : word, rng) << R"(", "label": ")" << word
             << "\"}\n";
      }
    }
    return (root_ / name).string();
  }

  EvalNoiseOptions options() const {
    EvalNoiseOptions out;
    out.data.train = write("train.jsonl", 1, 40);
    out.data.dev = write("dev.jsonl", 2, 340);
    out.data.test = write("test.jsonl", 3, 20);
    out.data.json = true;
    out.data.progress = false;
    return out;
  }

  fs::path root_;
  ToyEncoder encoder_;
};

// The first figure of this name behind a group's; the line of JSON is the report's last.
double figure(const std::string& report, const std::string& group, const std::string& key) {
  const size_t at = report.find("\"" + key + "\":", report.rfind("\"" + group + "\":"));
  EXPECT_NE(at, std::string::npos) << key;
  return at == std::string::npos ? -1 : std::stod(report.substr(at + key.size() + 3));
}

TEST_F(EvalNoiseTest, BothModelsAreMeasuredCleanAndSpoilt) {
  const auto report = eval_noise(options(), encoder_);
  ASSERT_TRUE(report) << report.error().message;
  for (const char* model : {"without", "with"}) {
    for (const char* key : {"fifth_loss95", "every_precision", "every_coverage", "swapped_loss95", "filler_changed"}) {
      (void)figure(*report, model, key);
    }
    EXPECT_EQ(figure(*report, model, "clean_loss95"), 0);
    EXPECT_EQ(figure(*report, model, "clean_changed"), 0);
    EXPECT_EQ(figure(*report, model, "letter_case_changed"), 0);  // the normal form sees no case
  }
  EXPECT_GT(figure(*report, "without", "every_changed"), 0);
  EXPECT_LE(figure(*report, "without", "every_accuracy"), figure(*report, "without", "clean_accuracy"));
  (void)figure(*report, "with", "every_ratio");
}

TEST_F(EvalNoiseTest, IsTheSameAgainButForSpeed) {
  const auto cut = [](const Result<std::string>& report) { return report->substr(0, report->find("\none error in")); };
  const EvalNoiseOptions same = options();
  EXPECT_EQ(cut(eval_noise(same, encoder_)), cut(eval_noise(same, encoder_)));
}

TEST_F(EvalNoiseTest, AFileThatIsNotThereIsNamed) {
  EvalNoiseOptions missing = options();
  missing.data.test = (root_ / "none.jsonl").string();
  const auto report = eval_noise(missing, encoder_);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("none.jsonl"), std::string::npos);
}

TEST_F(EvalNoiseTest, TooFewHeldOutRowsAreToldAtOnce) {
  EvalNoiseOptions few = options();
  few.data.dev = few.data.test;
  const auto report = eval_noise(few, encoder_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().param, "dev");
}

}  // namespace
}  // namespace hengshi::train
