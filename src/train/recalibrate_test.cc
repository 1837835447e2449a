#include "train/recalibrate.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include "light/artifact.h"
#include "train/eval_risk.h"
#include "train/toy.h"
#include "train/train.h"

namespace hengshi::train {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kWords = {"lamp", "router", "vacuum", "speaker"};

// Rows of the toy pack; every tenth in-scope one has another intent's word, so no model can be right on it.
std::string rows(size_t per_intent, uint64_t seed, bool answers, bool noisy = false) {
  Rng rng(seed);
  std::string out;
  for (size_t w = 0; w < kWords.size(); ++w) {
    for (size_t i = 0; i < per_intent; ++i) {
      const std::string label(kWords[w]), word(noisy && i % 10 == 0 ? kWords[(w + 1) % kWords.size()] : kWords[w]);
      out += R"({"text": ")" + toy_question(word, rng) + R"(", "label": ")" + label + "\"";
      out += answers ? R"(, "answer": "About the )" + label + R"(.", "lang": "en"})" : "}";
      out += "\n";
    }
  }
  for (size_t i = 0; i < per_intent; ++i) {
    out += R"({"text": ")" + toy_question("poem", rng) + R"(", "label": "oos"})" + "\n";
  }
  return out;
}

class RecalibrateTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {  // one training for all; each test has a copy of the artifact
    home = fs::temp_directory_path() / ("recalibrate_test." + std::to_string(::getpid()));
    fs::create_directories(home);
    std::ofstream(home / "shop.jsonl", std::ios::binary) << rows(30, 1, true);
    const TrainOptions options{.pack = (home / "shop.jsonl").string(), .out = (home / "out").string()};
    const ManualClock then;
    const ToyEncoder encoder;
    const auto report = train_pack(options, then, {&encoder});
    ASSERT_TRUE(report) << report.error().message;
    trained = report->languages[0].folder;
    version = report->languages[0].version;
  }
  static void TearDownTestSuite() { fs::remove_all(home); }

  void SetUp() override {
    root_ = home / "test";
    artifact_ = (root_ / "en").string();
    fs::create_directories(root_);
    fs::copy(trained, artifact_, fs::copy_options::recursive);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string write(const char* name, const std::string& bytes) const {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
    return (root_ / name).string();
  }
  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  RecalibrateOptions with(const std::string& labels) const {
    return {.artifact = artifact_, .labels = write("labels.jsonl", labels)};
  }
  std::string error(const RecalibrateOptions& options) const {
    const auto done = recalibrate(options, clock_, encoder_);
    return done ? "none" : done.error().message;
  }

  static inline fs::path home;
  static inline std::string trained, version;
  fs::path root_;
  std::string artifact_;
  ToyEncoder encoder_;
  ManualClock clock_;
};

TEST_F(RecalibrateTest, ACertifiedThresholdGoesIntoTheManifestOnRequest) {
  RecalibrateOptions options = with(rows(100, 2, false));
  options.json = true;
  auto done = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->certified);
  EXPECT_NE(done->report.find("500 labels, 100 of them out of scope"), std::string::npos);
  for (const char* key :
       {"certified", "labels", "labels_seen", "labels_needed", "risk", "delta", "oos_share", "now", "then", "threshold",
        "coverage", "coverage_lo", "risk_hi", "ece", "ece_floor", "brier", "version", "how"}) {
    EXPECT_NE(done->report.find("\"" + std::string(key) + "\":"), std::string::npos) << key;
  }
  EXPECT_EQ((*light::Model::load(artifact_))->version(), version);
  options.write = true;
  options.risk = 0.1;
  options.plot = (root_ / "risk.svg").string();
  clock_.advance(std::chrono::hours(1));
  done = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_NE((*light::Model::load(artifact_))->version(), version);
  const std::string manifest = read(artifact_ + "/manifest.json");
  EXPECT_NE(manifest.find("certified by Learn-then-Test on 500 labels"), std::string::npos);
  EXPECT_NE(manifest.find("at most 10 % wrong among answered, with probability 95 %"), std::string::npos);
  EXPECT_NE(manifest.find("\"aim\": 0.9,"), std::string::npos);
  EXPECT_TRUE(read(options.plot).starts_with("<svg "));
  EXPECT_NE(manifest.find("\"created\": \"" + utc(clock_.wall())), std::string::npos);
  EXPECT_NE(manifest.find("\"calibrated\": true"), std::string::npos);
  EXPECT_NE(done->report.find("written: " + artifact_ + " is now version "), std::string::npos);
  clock_.advance(std::chrono::hours(1));
  done = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_NE(done->report.find("unchanged: " + artifact_ + " is already version "), std::string::npos) << done->report;
  EXPECT_EQ(read(artifact_ + "/manifest.json"), manifest);
}

TEST_F(RecalibrateTest, TooFewLabelsAreRefusedAndNothingIsWritten) {
  const std::string before = read(artifact_ + "/manifest.json");
  RecalibrateOptions options = with(rows(10, 2, false));
  options.write = true;
  const auto few = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(few) << few.error().message;
  EXPECT_FALSE(few->certified);
  EXPECT_NE(few->report.find("not certified: too few labels; about "), std::string::npos);
  options = with(rows(100, 2, false, true));
  options.write = true;
  const auto bad = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(bad) << bad.error().message;
  EXPECT_FALSE(bad->certified);
  EXPECT_NE(bad->report.find("too many of the answered are wrong at every threshold"), std::string::npos);
  EXPECT_EQ(read(artifact_ + "/manifest.json"), before);
}

TEST_F(RecalibrateTest, AStatedShareWeighsOutOfScopeRows) {
  RecalibrateOptions options = with(rows(100, 2, false));
  options.oos_share = 0.3;
  const auto done = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(done->certified);
  EXPECT_NE(done->report.find("out of scope weighed to 30 %"), std::string::npos);
  std::string in_scope_only = rows(100, 2, false);
  in_scope_only.resize(in_scope_only.find("poem") - 60);
  in_scope_only.resize(in_scope_only.rfind('\n') + 1);
  options.labels = write("in_scope.jsonl", in_scope_only);
  const auto none = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(none->certified);
  EXPECT_NE(none->report.find("no row is labelled oos"), std::string::npos);
}

TEST_F(RecalibrateTest, LabelsThatKeepComingAddUp) {
  RecalibrateOptions options;
  bool certified = false;
  for (uint64_t day = 1; day <= 12 && !certified; ++day) {
    options = with(rows(8, 100 + day, false));
    options.state = (root_ / "state.json").string();
    const auto done = recalibrate(options, clock_, encoder_);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_FALSE(day == 1 && done->certified);
    certified = done->certified;
  }
  EXPECT_TRUE(certified);
  options.risk = 0.02;
  EXPECT_NE(error(options).find("start another file"), std::string::npos);
  options.risk = 0.05;
  write("state.json", "{}");
  EXPECT_NE(error(options).find("state.json: not a state of `hengshi calibrate`"), std::string::npos);
  options.oos_share = 0.2;
  EXPECT_NE(error(options).find("exclude each other"), std::string::npos);
}

TEST_F(RecalibrateTest, AStateCertifiesNoRowsSortedByLabel) {
  std::istringstream in(rows(100, 2, false, true));
  std::string right, wrong;  // a tenth names another intent's word
  for (std::string line; std::getline(in, line);) {
    const size_t key = line.find("\"label\": \"");
    const std::string label = line.substr(key + 10, line.rfind('"') - key - 10);
    (label == "oos" || line.find(label) < key ? right : wrong) += line + "\n";
  }
  RecalibrateOptions options = with(right + wrong);
  options.state = (root_ / "state.json").string();
  const auto done = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_FALSE(done->certified) << done->report;
}

TEST_F(RecalibrateTest, AStateCountsEachRowOnce) {
  const std::string first = rows(8, 1, false), second = rows(4, 2, false);
  RecalibrateOptions options = with(first);
  options.state = (root_ / "state.json").string();
  options.json = true;
  ASSERT_TRUE(recalibrate(options, clock_, encoder_));
  const std::string state = read(options.state);
  EXPECT_EQ(error(options), options.labels + ": an earlier run with " + options.state +
                                " has counted all 40 rows; give it rows that are new");
  EXPECT_EQ(read(options.state), state);
  options.labels = write("labels.jsonl", first + second);
  const auto grown = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(grown) << grown.error().message;
  EXPECT_NE(grown->report.find("40 of the rows were counted by an earlier run"), std::string::npos) << grown->report;
  EXPECT_NE(grown->report.find("\"labels\":60,\"labels_seen\":60,"), std::string::npos) << grown->report;
}

TEST_F(RecalibrateTest, TheRiskOfNothingIsNone) {
  ASSERT_TRUE(light::write_threshold(artifact_, {1, 1, 0.95, "never answers", false}, ""));
  RecalibrateOptions options = with(rows(10, 2, false));
  options.json = true;
  const auto done = recalibrate(options, clock_, encoder_);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_NE(done->report.find("now                        never      0.00 [ 0.00,  0.00]         -\n"),
            std::string::npos)
      << done->report;
  EXPECT_NE(done->report.find("\"risk\":null,\"risk_lo\":null,\"risk_hi\":null}"), std::string::npos) << done->report;
}

TEST_F(RecalibrateTest, BadInputIsNamed) {
  RecalibrateOptions options =
      with("{\"text\": \"a lamp\", \"label\": \"lamp\"}\n{\"text\": \"b\", \"label\": \"fridge\"}\n");
  EXPECT_EQ(error(options), options.labels +
                                ":2: 'fridge' is no intent of shop; write one of its 4 intents, or oos for a "
                                "question it must not answer");
  options = with("{\"text\": \"\xff\", \"label\": \"lamp\"}\n");
  EXPECT_EQ(error(options), options.labels + ":1: not UTF-8; save the file as UTF-8");
  options = with("\n");
  EXPECT_NE(error(options).find(":1: no rows"), std::string::npos);
  options.labels = (root_ / "nowhere").string();
  EXPECT_NE(error(options).find("nowhere: cannot be read"), std::string::npos);
  options = with(rows(2, 1, false));
  options.models = (root_ / "models").string();
  const auto no_encoder = recalibrate(options, clock_);
  ASSERT_FALSE(no_encoder);
  EXPECT_NE(no_encoder.error().message.find("its encoder toy cannot be used"), std::string::npos);
  options.artifact = (root_ / "nothing").string();
  EXPECT_NE(error(options).find("manifest.json"), std::string::npos);
}

TEST_F(RecalibrateTest, SplitsTellHowOftenThePromiseIsBroken) {
  EvalRiskOptions options;
  options.files.train = write("train.jsonl", rows(40, 1, false));
  options.files.test = write("test.jsonl", rows(60, 2, false));
  options.files.json = true;
  options.splits = 10;
  const auto report = eval_risk(options, encoder_);
  ASSERT_TRUE(report) << report.error().message;
  for (const char* key : {"halves", "halves_naive", "redraws", "redraws_naive", "violations", "violated", "violated_lo",
                          "violated_hi", "risk", "coverage", "splits", "certified", "expected_of_a_tight_bound"}) {
    EXPECT_NE(report->find("\"" + std::string(key) + "\":"), std::string::npos) << key;
  }
}

}  // namespace
}  // namespace hengshi::train
