#include "train/train.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "light/artifact.h"
#include "nn/test_model.h"
#include "train/eval_intent.h"
#include "train/foreign.h"
#include "train/toy.h"

namespace hengshi::train {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kWords = {"lamp", "router", "vacuum", "speaker"};

std::string jsonl(size_t per_intent, uint64_t seed, bool answers) {
  Rng rng(seed);
  std::string out;
  for (const std::string_view word : kWords) {
    for (size_t i = 0; i < per_intent; ++i) {
      const std::string label(word);
      out += R"({"text": ")" + toy_question(word, rng) + R"(", "label": ")" + label + "\"";
      out += answers ? R"(, "answer": "About the )" + label + R"(.", "lang": "en"})" : R"(, "id": "1"})";
      out += "\n";
    }
  }
  for (size_t i = 0; i < per_intent; ++i) {
    out += R"({"text": ")" + toy_question("poem", rng) + R"(", "label": "oos"})" + "\n";
  }
  return out;
}

class TrainTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("train_test." + std::to_string(::getpid()));
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string write(const char* name, const std::string& bytes) const {
    std::ofstream(root_ / name, std::ios::binary) << bytes;
    return (root_ / name).string();
  }

  fs::path root_;
  ToyEncoder encoder_;
  ManualClock clock_;
};

TEST_F(TrainTest, AModelThatIsWorseOnThePacksTestsDoesNotReplaceTheOneInUse) {
  const TrainOptions options{.pack = write("shop.jsonl", jsonl(30, 1, true)), .out = (root_ / "out").string()};
  write("shop.tests.jsonl", R"({"text": "can you router please", "label": "router", "lang": "en"}
{"text": "show me the lamp", "label": "lamp", "lang": "en"}
{"text": "the speaker please", "label": "speaker", "lang": "en"}
{"text": "a poem please", "label": "oos", "lang": "en"}
)");
  const auto first = train_pack(options, clock_, {&encoder_});
  ASSERT_TRUE(first) << first.error().message;
  EXPECT_EQ(first->table().find("tests of the pack"), std::string::npos);  // nothing to compare with
  const std::string folder = first->languages[0].folder;

  TrainOptions reseeded = options;
  reseeded.seed = 2;
  const auto again = train_pack(reseeded, clock_, {&encoder_});
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_NE(again->table().find("4 tests of the pack"), std::string::npos) << again->table();

  std::string mixed_up = jsonl(30, 1, true);
  for (size_t at = 0; (at = mixed_up.find("\"label\": \"lamp\"", at)) != std::string::npos; ++at) {
    mixed_up.replace(at, 15, "\"label\": \"LAMP\"");
  }
  for (const auto& [from, to] : {std::pair{"\"router\", \"answer", "\"lamp\", \"answer"}, {"\"LAMP\"", "\"router\""}}) {
    for (size_t at = 0; (at = mixed_up.find(from, at)) != std::string::npos; ++at) {
      mixed_up.replace(at, std::string_view(from).size(), to);
    }
  }
  write("shop.jsonl", mixed_up);
  const auto worse = train_pack(options, clock_, {&encoder_});
  ASSERT_FALSE(worse);
  EXPECT_NE(worse.error().message.find("accuracy fell"), std::string::npos) << worse.error().message;
  EXPECT_EQ((*light::Model::load(folder))->version(), again->languages[0].version);
  EXPECT_FALSE(fs::exists(folder + ".candidate"));

  TrainOptions forced = options;
  forced.force = true;
  const auto replaced = train_pack(forced, clock_, {&encoder_});
  ASSERT_TRUE(replaced) << replaced.error().message;
  EXPECT_EQ((*light::Model::load(folder))->version(), replaced->languages[0].version);

  write("shop.tests.jsonl", R"({"text": "x", "label": "nobody", "lang": "en"})");
  EXPECT_NE(train_pack(options, clock_, {&encoder_}).error().message.find("tests.jsonl:1"), std::string::npos);
}

TEST_F(TrainTest, APackBecomesAnArtifactThatAnswers) {
  const TrainOptions options{.pack = write("shop.jsonl", jsonl(30, 1, true)), .out = (root_ / "out").string()};
  const auto report = train_pack(options, clock_, {&encoder_});
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->languages.size(), 1U);
  const LanguageReport& english = report->languages[0];
  EXPECT_EQ(english.folder, options.out + "/shop/en");
  EXPECT_EQ(english.intents, 4U);
  EXPECT_GT(english.accuracy, 95);
  EXPECT_LT(english.bytes, 10U << 20);
  EXPECT_NE(report->table().find(english.version), std::string::npos);

  const auto model = light::Model::load(english.folder);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->version(), english.version);
  EXPECT_EQ((*model)->encoder_version(), "toy-1");
  std::vector<float> embedding(encoder_.dim());
  encoder_.encode("can you router please", embedding);
  const light::Verdict verdict = (*model)->ask("can you router please", embedding, 5);
  EXPECT_EQ(verdict.answer, "About the router.");
  EXPECT_GE(verdict.confidence, verdict.threshold);
  encoder_.encode("poem please", embedding);
  EXPECT_EQ((*model)->ask("poem please", embedding, 5).refused_because, "out_of_scope");
}

TEST_F(TrainTest, TheSamePackAndSeedGiveTheSameVersionAtAnyTime) {
  const std::string pack = write("shop.jsonl", jsonl(20, 1, true));
  write("shop.tests.jsonl", R"({"text": "show me the lamp", "label": "lamp", "lang": "en"})");
  const auto train = [&](const char* out, uint64_t seed) {
    clock_.advance(std::chrono::hours(1));
    return *train_pack({.pack = pack, .out = (root_ / out).string(), .seed = seed}, clock_, {&encoder_});
  };
  const TrainReport first = train("a", 1);
  const std::string version = first.languages[0].version, folder = first.languages[0].folder;
  EXPECT_EQ(version, train("b", 1).languages[0].version);
  EXPECT_EQ(first.table().find("unchanged"), std::string::npos);
  const auto created = light::read_artifact(folder)->manifest.created;
  const TrainReport again = train("a", 1);
  EXPECT_NE(again.table().find("(" + version + ", unchanged)"), std::string::npos) << again.table();
  EXPECT_EQ(light::read_artifact(folder)->manifest.created, created);
  EXPECT_FALSE(fs::exists(folder + ".versions"));
  EXPECT_NE(train("a", 2).languages[0].version, version);
}

TEST_F(TrainTest, AModelThatWillNeverAnswerIsSaidToBeOne) {
  const TrainOptions options{.pack = write("shop.jsonl", jsonl(3, 1, true)), .out = (root_ / "out").string()};
  const auto report = train_pack(options, clock_, {&encoder_});
  ASSERT_TRUE(report) << report.error().message;
  const LanguageReport& english = report->languages[0];
  ASSERT_TRUE(english.threshold.never());
  EXPECT_FALSE(english.precision);
  const std::string table = report->table();
  EXPECT_NE(table.find("      never          -       0.00"), std::string::npos) << table;
  EXPECT_NE(table.find(english.folder + ": no threshold is certain to reach 95 %"), std::string::npos) << table;
  EXPECT_NE(table.find("never answers"), std::string::npos) << table;
  const auto artifact = light::read_artifact(english.folder);
  ASSERT_TRUE(artifact) << artifact.error().message;
  for (const auto& [name, value] : artifact->manifest.metrics) EXPECT_NE(name, "precision");
}

TEST_F(TrainTest, TuningLeavesNothingOfItsOwnBehindOnceTheArtifactCarriesIt) {
  const nn::TestFolder base;
  std::string rows;
  for (const char* filler : {"", "a ", "un ", "wi ", "fi ", "b ", "a b ", "b a ", "wi fi ", "fi a "}) {
    for (const char* word : {"router", "reset"}) {
      rows.append(R"({"text": ")").append(filler).append(word).append(R"(", "label": ")").append(word);
      rows.append(R"(", "answer": "Yes.", "lang": "en"})").append("\n");
    }
  }
  TrainOptions options{.pack = write("shop.jsonl", rows), .out = (root_ / "out").string()};
  options.tune = true;
  options.base = base.path();
  options.progress = false;
  options.tuning = {.work = (root_ / "work").string(), .passes = 1};
  const fs::path work = root_ / "work/shop/en";
  const auto tuned = train_pack(options, clock_);
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_TRUE(fs::exists(tuned->languages[0].folder + "/encoder/model.safetensors"));
  EXPECT_FALSE(fs::exists(root_ / "work"));

  fs::create_directories(work);
  write("work/shop/en/notes.txt", "somebody else's");
  options.seed = 2;
  write("out/shop/en.versions", "a file, so that nothing can be kept there");
  EXPECT_FALSE(train_pack(options, clock_));
  EXPECT_TRUE(fs::exists(work / "encoder"));  // the next run goes on from what there is
  fs::remove(root_ / "out/shop/en.versions");
  ASSERT_TRUE(train_pack(options, clock_));
  EXPECT_EQ(std::distance(fs::directory_iterator(work), {}), 1);
  EXPECT_TRUE(fs::exists(work / "notes.txt"));
}

TEST_F(TrainTest, WhereNothingCanBeWrittenTheErrorNamesThePath) {
  const std::string pack = write("shop.jsonl", jsonl(5, 1, true));
  for (const char* blocked : {"file", "a/shop", "b/shop/en"}) {
    fs::create_directories((root_ / blocked).parent_path());
    write(blocked, "not a folder");
  }
  for (const fs::path& folder : {root_ / "file", root_ / "a", root_ / "b", fs::path("/proc/x")}) {
    const std::string out = folder.string();
    // Before anything else: there are no encoders to load either.
    const auto report = train_pack({.pack = pack, .out = out, .models = "/none"}, clock_);
    ASSERT_FALSE(report);
    EXPECT_NE(report.error().message.find(out), std::string::npos) << report.error().message;
    EXPECT_EQ(report.error().code, ErrorCode::kInvalidRequest) << report.error().message;
  }
  EXPECT_FALSE(train_pack({.pack = pack, .out = (root_ / "file").string()}, clock_, {&encoder_}));
}

TEST_F(TrainTest, EvaluationReportsEveryFigure) {
  EvalIntentOptions options{.train = write("train.jsonl", jsonl(40, 1, false)),
                            .test = write("test.jsonl", jsonl(20, 2, false))};
  options.json = true;
  options.seeds = 2;
  const auto report = eval_intent(options, encoder_);
  ASSERT_TRUE(report) << report.error().message;
  const std::string json = report->substr(report->rfind("\n{") + 1);
  for (const char* key :
       {"accuracy",    "accuracy_dedup", "oos_auroc",        "ece",          "ece_floor",    "brier",
        "oos_share",   "train_s",        "us_per_query_p50", "rows",         "seeds",        "at95",
        "at98",        "threshold",      "precision",        "precision_lo", "precision_hi", "coverage",
        "coverage_lo", "coverage_hi",    "oracle95",         "oracle98"}) {
    EXPECT_NE(json.find("\"" + std::string(key) + "\":"), std::string::npos) << key;
  }
  EXPECT_NE(json.find("\"rows\":100,"), std::string::npos);
  EXPECT_NE(report->find("n-gram linear alone"), std::string::npos);
}

TEST_F(TrainTest, UnknownIntentsAndSharedNegativesGoWhereTheyBelong) {
  EvalIntentOptions options{.train = write("train.jsonl", jsonl(40, 1, false)),
                            .dev = write("dev.jsonl", jsonl(20, 3, false)),
                            .test = write("test.jsonl", jsonl(20, 2, false))};
  options.oos_dev = options.oos_test =
      write("oos.jsonl",
            "{\"text\": \"a\", \"label\": \"oos\"}\n{\"text\": \"b\", \"label\": \"oos\"}\n"
            "{\"text\": \"c\", \"label\": \"oos\"}\n");
  options.unknown_every = 4;  // the last of the four
  options.json = true;
  const auto report = eval_intent(options, encoder_);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->substr(0, 9), "3 intents");
  EXPECT_NE(report->find("\"rows\":101,"), std::string::npos);  // one of the three shared negatives is odd
  EXPECT_NE(report->find(" 102 held out"), std::string::npos);
}

TEST_F(TrainTest, EvaluationNamesTheBadLine) {
  EvalIntentOptions options{.train = write("train.jsonl", "{\"text\": \"a\"}\n"),
                            .test = write("test.jsonl", jsonl(2, 2, false))};
  const auto report = eval_intent(options, encoder_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().message, options.train + R"(:1: no label; write {"text": "…", "label": "…"})");
}

TEST(Foreign, QuestionsAreOfTheirLanguageAndDistinct) {
  for (const text::Language language : {text::Language::kChinese, text::Language::kEnglish}) {
    const auto questions = foreign_questions(language);
    EXPECT_GE(questions.size(), 200U);
    for (const std::string& one : questions) EXPECT_EQ(text::detect_language(one), language) << one;
  }
  EXPECT_TRUE(foreign_questions(text::Language::kOther).empty());
}

}  // namespace
}  // namespace hengshi::train
