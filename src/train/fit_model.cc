#include "train/fit_model.h"

#include <algorithm>
#include <numeric>

#include "light/opinion.h"
#include "train/folds.h"
#include "train/parallel.h"
#include "train/progress.h"

namespace hengshi::train {

namespace {

constexpr size_t kFolds = 5;
constexpr size_t kEnoughInScope = 1000, kEnoughNegatives = 50;  // of dev, to fit the judge on dev alone
constexpr size_t kFewNegatives = 20;                            // of the pack's own: below, only the foreign ones weigh
constexpr uint32_t kLongestFactor = 3;  // a question this much longer than any phrasing is another kind

Examples pick(const Examples& rows, const std::vector<size_t>& fold, auto&& wanted) {
  Examples out;
  out.dim = rows.dim;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (wanted(fold[i])) out.add(rows.normalised[i], rows.labels[i], rows.embedding(i), rows.foreign[i] != 0);
  }
  return out;
}

uint32_t longest_allowed(const Examples& train, const Task& task) {
  size_t longest = 0;
  for (size_t i = 0; i < train.size(); ++i) {
    if (train.labels[i] < task.intents) longest = std::max(longest, text::count_characters(train.normalised[i]));
  }
  return static_cast<uint32_t>(longest) * kLongestFactor;
}

bool dev_is_enough(const Examples& dev, const Task& task) {
  const auto in_scope = static_cast<size_t>(
      std::count_if(dev.labels.begin(), dev.labels.end(), [&](uint32_t l) { return l < task.intents; }));
  return in_scope >= kEnoughInScope && dev.size() - in_scope >= kEnoughNegatives;
}

// The n-gram and the encoder head of every fold, then of everything, as separate pieces of work.
std::vector<light::Heads> fit_all(const std::vector<Examples>& sets, const Task& task, const FitOptions& options) {
  std::vector<light::Heads> out(sets.size());
  Progress progress("fitting", sets.size() * 2, options.progress);
  parallel_for(sets.size() * 2, [&](size_t piece) {
    const size_t i = sets.size() - 1 - piece / 2;  // the largest first
    light::Heads& heads = out[i];
    if (piece % 2 == 0) {
      heads.intents = task.intents;
      heads.encoder = fit_encoder_head(sets[i], task, options.seed);
      heads.examples = pick_examples(sets[i], task, options.seed);
    } else {
      heads.ngram = fit_ngram_head(sets[i], task, options.seed);
    }
    progress.advance();
  });
  return out;
}

class Pool {
 public:
  Pool(const Task& task, uint32_t longest) : task_(task), longest_(longest) {}

  void add(const Examples& from, size_t i, const light::Heads& heads) {
    HeldOut row{&heads, {}, from.embedding(i), from.labels[i]};
    row.scores = light::score(heads, task_.language, from.normalised[i], from.embedding(i));
    row.too_long = !light::unfit(from.normalised[i], longest_).empty();
    kinds_.push_back(from.labels[i] < task_.intents ? kInScope : from.foreign[i] != 0 ? kForeign : kGiven);
    rows_.push_back(std::move(row));
  }

  // Negatives weigh oos_share together; the pack's own, where it has enough, as much as the foreign ones.
  void weigh(double oos_share) {
    double count[3] = {};
    for (const Kind kind : kinds_) count[kind] += 1;
    const double total = static_cast<double>(rows_.size());
    const bool own = count[kGiven] >= kFewNegatives;
    const bool any_negative = count[kGiven] + count[kForeign] > 0;
    double share[3] = {any_negative ? 1 - oos_share : 1, 0, 0};
    if (own && count[kForeign] > 0) {
      share[kGiven] = share[kForeign] = oos_share / 2;
    } else {
      share[kGiven] = oos_share * count[kGiven] / std::max(1.0, count[kGiven] + count[kForeign]);
      share[kForeign] = oos_share - share[kGiven];
    }
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i].weight = total * share[kinds_[i]] / count[kinds_[i]];
  }

  const std::vector<HeldOut>& rows() const { return rows_; }

 private:
  enum Kind : uint8_t { kInScope, kGiven, kForeign };
  Task task_;
  uint32_t longest_;
  std::vector<HeldOut> rows_;
  std::vector<Kind> kinds_;
};

}  // namespace

Fitted fit_model(const Examples& train, const Examples& dev, const Task& task, const FitOptions& options) {
  const bool folded = !dev_is_enough(dev, task);
  std::vector<size_t> fold(train.size(), kFolds);
  if (folded) fold = make_folds(train.normalised, train.labels, kFolds, options.seed);
  std::vector<Examples> sets;
  for (size_t f = 0; folded && f < kFolds; ++f) sets.push_back(pick(train, fold, [&](size_t x) { return x != f; }));
  sets.push_back(train);
  std::vector<light::Heads> heads = fit_all(sets, task, options);

  Fitted out;
  out.weights.language = task.language;
  out.weights.longest = longest_allowed(train, task);
  Pool pool(task, out.weights.longest);
  for (size_t i = 0; folded && i < train.size(); ++i) pool.add(train, i, heads[fold[i]]);
  for (size_t i = 0; i < dev.size(); ++i) pool.add(dev, i, heads.back());
  pool.weigh(options.oos_share);
  out.weights.fusion = fit_fusion(pool.rows());
  out.held_out = judge(pool.rows(), out.weights.fusion);
  auto fitted = fit_confidence(out.held_out, options.seed);
  out.weights.confidence = fitted.confidence;
  out.held_out_confidence = std::move(fitted.held_out);
  for (const double aim : options.aims) {
    out.thresholds.push_back(choose_threshold(out.held_out, out.held_out_confidence, aim));
  }
  for (const HeldOut& row : pool.rows()) out.held_out_in_scope.push_back(row.label < task.intents ? 1 : 0);
  out.weights.heads = std::move(heads.back());
  return out;
}

}  // namespace hengshi::train
