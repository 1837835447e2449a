#include "tune/tune.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "nn/test_model.h"
#include "tune/check_gradient.h"
#include "tune/checkpoint.h"
#include "tune/dice.h"
#include "tune/low_rank.h"

namespace hengshi::tune {
namespace {

constexpr size_t kRows = 260;
constexpr uint32_t kClasses = 3;

// The class of a text is one token among others.
class TuneTest : public testing::Test {
 protected:
  TuneTest() : base(*BaseModel::open(folder.path())), layout(base.config().bert) {
    task.lay_out(layout);
    for (size_t i = 0; i < kRows; ++i) {
      labels.push_back(static_cast<uint32_t>(roll(1, i) % kClasses));
      std::vector<int32_t> ids = {2};
      for (size_t k = 0, n = roll(2, i) % 5; k < n; ++k) ids.push_back(static_cast<int32_t>(10 + roll(i, k) % 10));
      ids.push_back(static_cast<int32_t>(20 + labels.back()));
      ids.push_back(3);
      texts.push_back(ids);
    }
    options.passes = 12;
    options.batch = 16;
    options.adam.rate = 1e-3F;
  }

  LabelledIds rows(size_t from, size_t count) const {
    return {std::span(labels).subspan(from, count), [this, from](size_t row, size_t) { return texts[from + row]; }};
  }
  Result<Tuned> run(const TuneOptions& with, const std::function<void(const TuneProgress&)>& on_progress = {}) {
    return tune(base, layout, task, rows(0, 200), rows(200, 60), with, on_progress);
  }

  nn::TestFolder folder;
  BaseModel base;
  Layout layout;
  ClassTask task{{.classes = kClasses, .dim = 64, .hidden = 32}};
  std::vector<uint32_t> labels;
  std::vector<std::vector<int32_t>> texts;
  TuneOptions options;
};

TEST_F(TuneTest, LearnsWhatCanBeLearned) {
  const auto tuned = run(options);
  ASSERT_TRUE(tuned) << tuned.error().message;
  ASSERT_FALSE(tuned->history.empty());
  double best = 0;
  for (const Validation& one : tuned->history) best = std::max(best, one.accuracy);
  EXPECT_GE(best, 95);
  EXPECT_LT(tuned->history.back().train_loss, tuned->history.front().train_loss);
}

TEST_F(TuneTest, ThinMatricesLearnToo) {
  options.lora = 4;
  options.passes = 25;
  options.adam.rate = 4e-3F;
  const auto tuned = run(options);
  ASSERT_TRUE(tuned) << tuned.error().message;
  EXPECT_EQ(tuned->parameters.size(), layout.size);
  EXPECT_GE(std::max_element(tuned->history.begin(), tuned->history.end(),
                             [](const auto& a, const auto& b) { return a.accuracy < b.accuracy; })
                ->accuracy,
            90);
}

TEST_F(TuneTest, TheDerivativeByThinMatricesIsThatOfTheProduct) {
  const LowRank low(layout, 2, some_values(layout.size, 1));
  std::vector<float> thin = some_values(low.layout().size, 2, 0.3F), whole(layout.size);
  const std::vector<float> by = some_values(layout.size, 3);  // any loss will do: a mixture
  std::vector<float> gradient(thin.size());
  low.carry_over(thin, by, gradient);
  const auto loss = [&] {
    low.expand(thin, whole);
    double sum = 0;
    for (size_t i = 0; i < whole.size(); ++i) sum += static_cast<double>(whole[i]) * static_cast<double>(by[i]);
    return sum;
  };
  check_gradient("thin", thin, gradient, loss, 0.05F, 101, 2e-2);
}

TEST_F(TuneTest, TheSameSeedGivesTheSameWeights) {
  options.passes = 2;
  const auto once = run(options), again = run(options);
  EXPECT_EQ(once->parameters, again->parameters);
  options.seed = 2;
  EXPECT_NE(run(options)->parameters, once->parameters);
}

class TuneResumes : public TuneTest, public testing::WithParamInterface<size_t> {};
INSTANTIATE_TEST_SUITE_P(Rank, TuneResumes, testing::Values(0, 4));

TEST_P(TuneResumes, KilledAndResumedItEndsInTheSameWeights) {
  options.lora = GetParam();
  options.passes = 4;
  options.checkpoint_every = 2;
  const auto whole = run(options);
  options.checkpoint = folder.path() + "/run.checkpoint";
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    (void)run(options, [](const TuneProgress& at) {
      if (at.step == 17) ::kill(::getpid(), SIGKILL);
    });
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  size_t first_step = 0;
  const auto resumed =
      run(options, [&](const TuneProgress& at) { first_step = first_step == 0 ? at.step : first_step; });
  ASSERT_TRUE(resumed) << resumed.error().message;
  EXPECT_EQ(first_step, 17U);
  EXPECT_EQ(resumed->parameters, whole->parameters);
  ASSERT_EQ(resumed->history.size(), whole->history.size());
  EXPECT_EQ(resumed->history.back().loss, whole->history.back().loss);
}

TEST_F(TuneTest, ACheckpointFromBeforeTheFirstValidationIsReadAsItWasWritten) {
  const std::string path = folder.path() + "/run.checkpoint";
  const std::vector<float> some = {1, 2, 3};
  ASSERT_TRUE(write_checkpoint(path, {}, {.counters = {.step = 7}, .parameters = some, .first = some, .second = some}));
  const auto read = read_checkpoint(path, {}, some.size());
  ASSERT_TRUE(read && *read) << path;
  EXPECT_EQ((*read)->counters.step, 7U);
  EXPECT_EQ((*read)->second, some);
  EXPECT_TRUE((*read)->history.empty());
  EXPECT_TRUE((*read)->best.empty());
}

TEST_F(TuneTest, ACheckpointOfAnotherRunOrDamagedIsRefused) {
  options.passes = 1;
  options.checkpoint_every = 1;
  options.checkpoint = folder.path() + "/run.checkpoint";
  ASSERT_TRUE(run(options));
  options.seed = 9;
  EXPECT_NE(run(options).error().message.find("another run; delete it"), std::string::npos);
  options.seed = 1;
  std::fstream file(options.checkpoint, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(-5, std::ios::end);
  file.put('x');
  file.close();
  EXPECT_NE(run(options).error().message.find("checksum"), std::string::npos);
  std::filesystem::resize_file(options.checkpoint, 1000);
  EXPECT_NE(run(options).error().message.find("cut short"), std::string::npos);
}

TEST_F(TuneTest, WhereNoCheckpointCanBeWrittenThePathIsNamed) {
  options.checkpoint_every = 1;
  options.checkpoint = "/proc/none/run.checkpoint";
  EXPECT_NE(run(options).error().message.find("/proc/none"), std::string::npos);
}

TEST_F(TuneTest, AFullDiskIsAnErrorAndLeavesNothing) {
  if (::access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  options.checkpoint_every = 1;
  options.checkpoint = folder.path() + "/run.checkpoint";
  std::filesystem::create_symlink("/dev/full", options.checkpoint + ".part");
  EXPECT_NE(run(options).error().message.find("No space left"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(options.checkpoint));
}

TEST_F(TuneTest, ALossThatIsNoLongerFiniteIsAnError) {
  options.adam.rate = 1e30F;
  const auto tuned = run(options);
  ASSERT_FALSE(tuned);
  EXPECT_NE(tuned.error().message.find("lower the learning rate"), std::string::npos);
}

TEST_F(TuneTest, StopsWhenValidationNoLongerGetsBetter) {
  options.passes = 40;
  options.patience = 2;
  options.adam.rate = 5e-3F;
  const auto tuned = run(options);
  ASSERT_TRUE(tuned);
  EXPECT_LT(tuned->history.size(), 40U);
  EXPECT_EQ(tuned->history.size(), tuned->best_step / 13 + 2);
}

TEST_F(TuneTest, ThePlanCountsWhatIsHeld) {
  EXPECT_GT(memory_plan(base, layout, options), 6 * layout.size * sizeof(float));
}

}  // namespace
}  // namespace hengshi::tune
