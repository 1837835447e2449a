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
    root = fs::temp_directory_path() / ("eval_noise_test." + std::to_string(::getpid()));
    fs::create_directories(root);
  }
  void TearDown() override { fs::remove_all(root); }

  std::string write(const char* name, uint64_t seed, size_t per_intent) const {
    static constexpr std::array<std::string_view, 4> kWords = {"lamp", "router", "vacuum", "oos"};
    Rng rng(seed);
    std::ofstream file(root / name, std::ios::binary);
    for (const std::string_view word : kWords) {
      for (size_t i = 0; i < per_intent; ++i) {
        file << R"({"text": ")" << toy_question(word == "oos" ? "poem" : word, rng) << R"(", "label": ")" << word
             << "\"}\n";
      }
    }
    return (root / name).string();
  }

  EvalNoiseOptions options() const {
    EvalNoiseOptions out;
    out.data.train = write("train.jsonl", 1, 40);
    out.data.dev = write("dev.jsonl", 2, 20);
    out.data.test = write("test.jsonl", 3, 20);
    out.data.json = true;
    out.data.progress = false;
    return out;
  }

  fs::path root;
  ToyEncoder encoder;
};

double figure(const std::string& report, const std::string& key) {
  const size_t at = report.rfind("\"" + key + "\":");
  EXPECT_NE(at, std::string::npos) << key;
  return at == std::string::npos ? -1 : std::stod(report.substr(at + key.size() + 3));
}

TEST_F(EvalNoiseTest, ErrorsCostAModelThatKnowsWordsByTheirSpelling) {
  const auto report = eval_noise(options(), encoder);
  ASSERT_TRUE(report) << report.error().message;
  for (const char* group : {"\"without\":{", "\"with\":{"}) EXPECT_NE(report->find(group), std::string::npos);
  for (const char* key : {"clean_accuracy", "fifth_loss95", "every_changed", "every_precision", "every_coverage",
                          "swapped_loss95", "filler_changed", "every_ratio", "corruptions_per_s"}) {
    (void)figure(*report, key);
  }
  EXPECT_EQ(figure(*report, "clean_loss95"), 0);
  EXPECT_EQ(figure(*report, "clean_changed"), 0);
  EXPECT_EQ(figure(*report, "letter_case_changed"), 0);  // the normal form sees no case
  EXPECT_GT(figure(*report, "every_loss95"), 0);
  EXPECT_LE(figure(*report, "fifth_loss95"), figure(*report, "every_loss95"));
}

TEST_F(EvalNoiseTest, IsTheSameAgainButForSpeed) {
  const auto cut = [](const Result<std::string>& report) { return report->substr(0, report->find("\none error in")); };
  const EvalNoiseOptions same = options();
  EXPECT_EQ(cut(eval_noise(same, encoder)), cut(eval_noise(same, encoder)));
}

TEST_F(EvalNoiseTest, AFileThatIsNotThereIsNamed) {
  EvalNoiseOptions missing = options();
  missing.data.test = (root / "none.jsonl").string();
  const auto report = eval_noise(missing, encoder);
  ASSERT_FALSE(report);
  EXPECT_NE(report.error().message.find("none.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace hengshi::train
