#include "train/gate.h"

#include <gtest/gtest.h>

#include "train/toy.h"

namespace hengshi::train {
namespace {

constexpr GateFigures kInUse{
    .accuracy = 92, .precision = 97, .coverage = 60, .ece = 0.03, .us_p50 = 80, .bytes = 3'000'000};

std::vector<std::string> worse_with(auto&& change) {
  GateFigures fresh = kInUse;
  change(fresh);
  return what_is_worse(kInUse, fresh);
}

TEST(Gate, NoiseIsNoLoss) {
  EXPECT_TRUE(worse_with([](GateFigures&) {}).empty());
  EXPECT_TRUE(
      worse_with([](GateFigures& f) {
        f = {.accuracy = 91.5, .precision = 96.5, .coverage = 55, .ece = 0.04, .us_p50 = 100, .bytes = 4'000'000};
      }).empty());
}

TEST(Gate, EachLossIsNamed) {
  const auto first = [](const std::vector<std::string>& worse) { return worse.size() == 1 ? worse[0] : "not one"; };
  EXPECT_EQ(first(worse_with([](GateFigures& f) { f.accuracy = 90; })), "accuracy fell from 92.00 to 90.00 %");
  EXPECT_EQ(first(worse_with([](GateFigures& f) { f.precision = 95; })), "precision fell from 97.00 to 95.00 %");
  EXPECT_EQ(first(worse_with([](GateFigures& f) { f.ece = 0.06; })), "ECE rose from 0.030 to 0.060");
  EXPECT_EQ(first(worse_with([](GateFigures& f) { f.us_p50 = 140; })), "asking it rose from 80 to 140 µs");
  EXPECT_EQ(first(worse_with([](GateFigures& f) { f.bytes = 5'000'000; })), "its size rose from 3.0 to 5.0 MB");
}

TEST(Gate, AModelThatNeverAnswersIsNotBetterForIt) {
  const auto silent = [](GateFigures& f) {
    f.coverage = 0;
    f.precision = 100;
  };
  EXPECT_EQ(worse_with(silent), std::vector<std::string>{"coverage fell from 60.00 to 0.00 %"});
  GateFigures nothing = kInUse;
  silent(nothing);
  EXPECT_TRUE(what_is_worse(nothing, kInUse).empty());
}

class FakeModel final : public light::Model {
 public:
  FakeModel(bool own_encoder, double threshold)
      : own_encoder_(own_encoder), threshold_{threshold, 1, 0.95, "", false} {}
  light::Verdict ask(std::string_view, std::span<const float>, uint64_t) const override {
    return {.intent = "lamp", .confidence = 1, .threshold = threshold_.value};
  }
  text::Language language() const override { return text::Language::kEnglish; }
  const std::string& name() const override { return name_; }
  const std::string& version() const override { return name_; }
  const std::string& encoder_version() const override { return name_; }
  bool has_own_encoder() const override { return own_encoder_; }
  size_t intents() const override { return 1; }
  const light::Threshold& threshold() const override { return threshold_; }

 private:
  std::string name_ = "fake";
  bool own_encoder_;
  light::Threshold threshold_;
};

TEST(Gate, TheFiguresAreThoseOfTheModels) {
  const FakeModel before(false, 1), after(true, 0.9);
  const Gate gate = compare_on_tests({before, 3'000'000}, {after, 28'000'000}, ToyEncoder(), {{"a lamp", "lamp"}});
  EXPECT_FALSE(gate.before.own_encoder);
  EXPECT_TRUE(gate.after.own_encoder);
  EXPECT_TRUE(gate.worse.empty()) << gate.worse.front();
  EXPECT_EQ(gate.before.coverage, 0);  // never, however sure
  EXPECT_EQ(gate.after.coverage, 100);
  EXPECT_NE(gate.table().find("in use                      100.00          -      0.00"), std::string::npos)
      << gate.table();
}

TEST(Gate, AnEncoderOfItsOwnMayTakeWhatItTakes) {
  EXPECT_TRUE(worse_with([](GateFigures& f) {
                f.own_encoder = true;
                f.us_p50 = 900;
                f.bytes = 28'000'000;
              }).empty());
}

}  // namespace
}  // namespace hengshi::train
