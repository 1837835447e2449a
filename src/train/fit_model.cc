#include "train/fit_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "light/opinion.h"
#include "train/folds.h"
#include "train/parallel.h"
#include "train/progress.h"
#include "train/rng.h"

namespace hengshi::train {

namespace {

constexpr size_t kFolds = 5;
constexpr size_t kLeftOutOf = 7;                                // each fold lacks one intent in so many
constexpr size_t kEnoughInScope = 1000, kEnoughNegatives = 50;  // of dev, to fit the judge on dev alone
constexpr size_t kFewNegatives = 20;                            // of the pack's own: below, only the foreign ones weigh
constexpr double kForeignShare = 0.1;                           // of what another kind of negatives weighs
constexpr uint32_t kLongestFactor = 3;  // a question this much longer than any phrasing is another kind

uint32_t longest_allowed(const Examples& train, const Task& task) {
  size_t longest = 0;
  for (size_t i = 0; i < train.size(); ++i) {
    if (train.labels[i] < task.intents) longest = std::max(longest, text::count_characters(train.normalised[i]));
  }
  return static_cast<uint32_t>(longest) * kLongestFactor;
}

bool dev_is_enough(const Examples& dev, const Task& task, double oos_share) {
  const auto in_scope = static_cast<size_t>(
      std::count_if(dev.labels.begin(), dev.labels.end(), [&](uint32_t l) { return l < task.intents; }));
  return in_scope >= kEnoughInScope && (oos_share == 0 || dev.size() - in_scope >= kEnoughNegatives);
}

// What a set trains on, as its encoder sees it.
Examples training_rows(const Split& split, std::span<const View> views, size_t set) {
  const Examples& rows = *views[set].train;
  Examples out;
  out.dim = rows.dim;
  std::vector<size_t> place(rows.originals());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (!split.trains(set, i, rows.labels[i])) continue;
    if (i < place.size()) {
      place[i] = out.size();
    } else {
      out.origins.push_back(place[rows.origins[i - place.size()]]);
    }
    out.add(rows.normalised[i], rows.labels[i], rows.embedding(i), rows.foreign[i] != 0, rows.texts[i]);
  }
  return out;
}

// Out of scope that is more of training than of live questions would be named too readily: its odds are brought back to
// the live ones (Saerens 2002).
void set_back_out_of_scope(const Split& split, size_t set, const std::vector<uint32_t>& labels, double live_share,
                           light::Heads& heads) {
  double all = 0, negatives = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!split.trains(set, i, labels[i])) continue;
    all += 1;
    negatives += labels[i] == heads.intents ? 1 : 0;
  }
  const double trained = negatives / std::max(all, 1.0);
  const double live = std::max(live_share, 0.01);
  if (trained <= live || trained >= 1) return;
  const auto shift = static_cast<float>(std::log(live / (1 - live)) - std::log(trained / (1 - trained)));
  heads.ngram.bias.back() += shift;
  heads.encoder.b2.back() += shift;
}

// The n-gram and the encoder head of every fold, then of everything, as separate pieces of work.
std::vector<light::Heads> fit_all(const Split& split, std::span<const View> views, const Task& task,
                                  const FitOptions& options) {
  std::vector<light::Heads> out(views.size());
  Progress progress("fitting", views.size() * 2, options.progress);
  parallel_for(views.size() * 2, [&](size_t piece) {
    const size_t i = views.size() - 1 - piece / 2;  // the largest first
    const Examples rows = training_rows(split, views, i);
    light::Heads& heads = out[i];
    if (piece % 2 == 0) {
      heads.intents = task.intents;
      heads.encoder = views[i].head != nullptr ? *views[i].head : fit_encoder_head(rows, task, options.seed);
      heads.examples = pick_examples(rows, task, options.seed);
    } else {
      heads.ngram = fit_ngram_head(rows, task, options.seed);
    }
    progress.advance();
  });
  for (size_t i = 0; i < out.size(); ++i) {
    set_back_out_of_scope(split, i, views[i].train->labels, options.oos_share, out[i]);
  }
  return out;
}

class Pool {
 public:
  Pool(const Task& task, uint32_t longest) : task_(task), longest_(longest) {}

  // `unknown`: the heads were never told of the row's intent.
  void add(const Examples& from, size_t i, const light::Heads& heads, bool unknown) {
    const uint32_t label = unknown ? static_cast<uint32_t>(task_.intents) : from.labels[i];
    HeldOut row{&heads, {}, from.embedding(i), label};
    row.scores = light::score(heads, task_.language, from.normalised[i], from.embedding(i));
    row.too_long = !light::unfit(from.normalised[i], longest_).empty();
    kinds_.push_back(unknown ? kLeftOut : label < task_.intents ? kInScope : from.foreign[i] != 0 ? kForeign : kGiven);
    rows_.push_back(std::move(row));
  }

  // Negatives weigh oos_share together; each kind that has enough of them as much as the others, but for the foreign
  // ones: what is far from the pack is easily told and says little of what is near.
  void weigh(double oos_share) {
    std::array<double, kKinds> count = {}, share = {};
    for (const Kind kind : kinds_) count[kind] += 1;
    const bool few = count[kGiven] < kFewNegatives && count[kForeign] > 0;  // then as if they were foreign
    for (const Kind k : {kGiven, kForeign, kLeftOut}) share[k] = count[k] > 0 ? (k == kForeign ? kForeignShare : 1) : 0;
    if (few) {
      share[kGiven] = kForeignShare * count[kGiven] / (count[kGiven] + count[kForeign]);
      share[kForeign] = kForeignShare - share[kGiven];
    }
    const double kinds = share[kGiven] + share[kForeign] + share[kLeftOut];
    for (const Kind k : {kGiven, kForeign, kLeftOut}) share[k] *= kinds > 0 ? oos_share / kinds : 0;
    share[kInScope] = kinds > 0 ? 1 - oos_share : 1;
    const double total = static_cast<double>(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) rows_[i].weight = total * share[kinds_[i]] / count[kinds_[i]];
  }

  const std::vector<HeldOut>& rows() const { return rows_; }

 private:
  enum Kind : uint8_t { kInScope, kGiven, kForeign, kLeftOut, kKinds };
  Task task_;
  uint32_t longest_;
  std::vector<HeldOut> rows_;
  std::vector<Kind> kinds_;
};

}  // namespace

Split split_for_judge(const Examples& train, const Examples& dev, const Task& task, size_t folds,
                      const FitOptions& options) {
  Split out{dev_is_enough(dev, task, options.oos_share) ? 0 : folds, {}, {}};
  out.left_out.assign(task.intents + 1, out.folds);
  if (out.folds == 0) return out;
  const size_t originals = train.originals();
  out.fold = make_folds(std::span(train.normalised).first(originals), std::span(train.labels).first(originals), folds,
                        options.seed);
  for (const size_t origin : train.origins) out.fold.push_back(out.fold[origin]);
  std::vector<uint32_t> order(task.intents);
  std::iota(order.begin(), order.end(), 0U);
  Rng rng(options.seed);
  rng.shuffle(order);
  const size_t each = std::min(task.intents / folds, task.intents / kLeftOutOf);
  for (size_t i = 0; i < each * folds; ++i) out.left_out[order[i]] = i % folds;
  return out;
}

Fitted fit_model(const Examples& train, const Examples& dev, const Task& task, const FitOptions& options) {
  const Split split = split_for_judge(train, dev, task, kFolds, options);
  return fit_model(split, std::vector<View>(split.folds + 1, {&train, &dev}), task, options);
}

Fitted fit_model(const Split& split, std::span<const View> views, const Task& task, const FitOptions& options) {
  std::vector<light::Heads> heads = fit_all(split, views, task, options);
  const View& all = views.back();
  Fitted out;
  out.weights.language = task.language;
  out.weights.longest = longest_allowed(*all.train, task);
  Pool pool(task, out.weights.longest);
  for (size_t i = 0; split.folds > 0 && i < all.train->originals(); ++i) {
    const size_t set = split.fold[i];
    pool.add(*views[set].train, i, heads[set], split.left_out[all.train->labels[i]] == set);
  }
  for (size_t i = 0; i < all.dev->size(); ++i) pool.add(*all.dev, i, heads.back(), false);
  pool.weigh(options.oos_share);
  out.weights.fusion = fit_fusion(pool.rows());
  out.held_out = judge(pool.rows(), out.weights.fusion);
  auto fitted = fit_confidence(out.held_out, task.intents, options.seed);
  out.weights.confidence = fitted.confidence;
  out.held_out_confidence = std::move(fitted.held_out);
  out.held_out_scope = std::move(fitted.held_out_scope);
  for (const double aim : options.aims) {
    out.thresholds.push_back(choose_threshold(out.held_out, out.held_out_confidence, aim));
  }
  out.weights.heads = std::move(heads.back());
  return out;
}

}  // namespace hengshi::train
