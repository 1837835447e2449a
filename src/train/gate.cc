#include "train/gate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "train/metrics.h"
#include "train/rows.h"

namespace hengshi::train {

namespace {

constexpr double kAccuracyLoss = 1, kPrecisionLoss = 1;  // percentage points that are noise on a few hundred tests
constexpr double kCoverageLoss = 10;  // a more careful threshold may cost some, silence is not better
constexpr double kEceGain = 0.02;
constexpr double kLatencyFactor = 1.5, kSizeFactor = 1.5;
constexpr double kLatencySlackUs = 50;  // below it a factor says nothing

// In the pack's folder; beside a pack that is one file.
std::string tests_file(const std::string& where) {
  std::error_code error;
  if (std::filesystem::is_directory(where, error)) return where + "/tests.jsonl";
  return std::filesystem::path(where).replace_extension(".tests.jsonl").string();
}

// One model's answers to the tests, question by question.
class Examination {
 public:
  explicit Examination(const light::Model& model) : model_(model) {}

  void ask(const PackTest& test, std::span<const float> embedding) {
    const auto start = std::chrono::steady_clock::now();
    const light::Verdict verdict = model_.ask(test.text, embedding, 0);
    us_.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    const bool in_scope = test.label != kOutOfScope;
    const bool named = verdict.intent == test.label;
    const bool answered = !verdict.refused && verdict.confidence >= verdict.threshold && !model_.threshold().never();
    understood_ += in_scope ? (named && !verdict.refused ? 1 : 0) : (answered ? 0 : 1);
    answered_ += answered ? 1 : 0;
    right_ += answered && named ? 1 : 0;
    if (!verdict.refused)
      scored_.push_back({static_cast<float>(verdict.confidence), in_scope && named, false, in_scope});
  }

  GateFigures figures(uint64_t bytes) {
    const auto n = static_cast<double>(us_.size());
    const auto middle = us_.begin() + static_cast<std::ptrdiff_t>(us_.size() / 2);
    std::nth_element(us_.begin(), middle, us_.end());
    return {100 * understood_ / n,
            answered_ > 0 ? 100 * right_ / answered_ : 100,
            100 * answered_ / n,
            calibration_error(scored_, {}, 1).ece,
            *middle,
            bytes,
            model_.has_own_encoder()};
  }

 private:
  const light::Model& model_;
  std::vector<Scored> scored_;
  std::vector<double> us_;
  double understood_ = 0, answered_ = 0, right_ = 0;
};

}  // namespace

std::vector<std::string> what_is_worse(const GateFigures& before, const GateFigures& after) {
  std::vector<std::string> out;
  const auto fell = [&](const char* what, double from, double to, double allowed) {
    if (to < from - allowed) out.push_back(fmt::format("{} fell from {:.2f} to {:.2f} %", what, from, to));
  };
  fell("accuracy", before.accuracy, after.accuracy, kAccuracyLoss);
  fell("coverage", before.coverage, after.coverage, kCoverageLoss);
  // Of no answers at all there is no precision.
  if (before.coverage > 0 && after.coverage > 0) fell("precision", before.precision, after.precision, kPrecisionLoss);
  if (after.ece > before.ece + kEceGain) {
    out.push_back(fmt::format("ECE rose from {:.3f} to {:.3f}", before.ece, after.ece));
  }
  if (before.own_encoder != after.own_encoder) return out;
  if (after.us_p50 > std::max(before.us_p50 * kLatencyFactor, before.us_p50 + kLatencySlackUs)) {
    out.push_back(fmt::format("asking it rose from {:.0f} to {:.0f} µs", before.us_p50, after.us_p50));
  }
  if (static_cast<double>(after.bytes) > static_cast<double>(before.bytes) * kSizeFactor) {
    out.push_back(fmt::format("its size rose from {:.1f} to {:.1f} MB", static_cast<double>(before.bytes) / 1e6,
                              static_cast<double>(after.bytes) / 1e6));
  }
  return out;
}

Result<std::vector<PackTest>> read_pack_tests(const Pack& pack, text::Language language) {
  const std::string file = tests_file(pack.where);
  std::vector<PackTest> out;
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return out;
  TRY(const auto rows, read_rows(file, OtherKeys::kRefused));
  for (const Row& row : rows) {
    const bool known = row.label == kOutOfScope || std::ranges::any_of(pack.intents, [&](const PackIntent& intent) {
                         return intent.name.text == row.label;
                       });
    if (!known) {
      return fault(file, row.line, fmt::format("label '{}' is no intent of the pack; write one, or oos", row.label));
    }
    TRY(text::Language spoken, language_of_row(row, file));
    if (row.lang.empty() && pack.languages.size() == 1) spoken = pack.languages.front();
    if (spoken == language) out.push_back({row.text, row.label});
  }
  return out;
}

Gate compare_on_tests(const Candidate& before, const Candidate& after, const nn::Encoder& encoder,
                      const std::vector<PackTest>& tests) {
  Gate out{.tests = tests.size()};
  if (tests.empty()) return out;
  Examination old(before.model), fresh(after.model);
  std::vector<float> embedding(encoder.dim());
  for (const PackTest& test : tests) {
    encoder.encode(test.text, embedding);
    old.ask(test, embedding);
    fresh.ask(test, embedding);
  }
  out.before = old.figures(before.bytes);
  out.after = fresh.figures(after.bytes);
  out.worse = what_is_worse(out.before, out.after);
  return out;
}

std::string Gate::table() const {
  std::string out = fmt::format("{} tests of the pack{:>12}{:>11}{:>10}{:>8}{:>8}{:>9}\n", tests, "accuracy",
                                "precision", "coverage", "ECE", "µs", "MB");
  for (const auto& [name, f] : {std::pair{"in use", &before}, {"new", &after}}) {
    out += fmt::format("{:<22}{:>12.2f}{:>11}{:>10.2f}{:>8.3f}{:>8.0f}{:>9.2f}\n", name, f->accuracy,
                       f->coverage > 0 ? fmt::format("{:.2f}", f->precision) : "-", f->coverage, f->ece, f->us_p50,
                       static_cast<double>(f->bytes) / 1e6);
  }
  return out;
}

}  // namespace hengshi::train
