#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "base/counted.h"
#include "light/judge.h"
#include "train/embed.h"
#include "train/fit_heads.h"
#include "train/folds.h"
#include "train/pack_lint_parts.h"
#include "train/parallel.h"
#include "train/progress.h"
#include "train/rng.h"

namespace hengshi::train {

namespace {

constexpr size_t kFolds = 5;
constexpr size_t kFewest = 40, kMostClasses = 1000;
constexpr size_t kMostTrained = 10'000;  // rows of one fold: more cost time and tell no more about the others
constexpr size_t kMostEncoded = 20'000;  // rows of a language, from which n-grams must do
constexpr size_t kKept = 4;              // likeliest classes kept of a row
// Of a wrong label: what another class gets, at least as much as its own rows do or plenty, and what its own gets.
constexpr float kSure = 0.5F, kPlenty = 0.8F, kDoubt = 0.15F;
constexpr float kSureOfLeak = 0.9F;  // of a negative: near misses are meant to read like an intent, but not as much
constexpr double kOftenEach = 0.15, kOftenBoth = 0.5;  // shares of two intents' rows that go to the other
constexpr size_t kFewestConfused = 4;

struct Guess {
  float own = 0;  // probability of the row's own label
  std::array<uint32_t, kKept> classes{};
  std::array<float, kKept> probabilities{};
};

// Rows of the other folds, at most kMostTrained of them, drawn evenly.
Examples training_rows(const Examples& all, const std::vector<size_t>& fold, size_t left_out, uint64_t seed) {
  std::vector<size_t> order;
  for (size_t i = 0; i < all.size(); ++i) {
    if (fold[i] != left_out) order.push_back(i);
  }
  if (order.size() > kMostTrained) {
    Rng rng(seed + left_out);
    rng.shuffle(order);
    order.resize(kMostTrained);
    std::sort(order.begin(), order.end());
  }
  Examples out;
  out.dim = all.dim;
  for (const size_t i : order) {
    out.add(all.normalised[i], all.labels[i], all.dim > 0 ? all.embedding(i) : std::span<const float>());
  }
  return out;
}

// Both heads, or without an encoder one that says nothing beside the n-grams.
light::Heads fit(const Examples& train, const Task& task, uint64_t seed) {
  light::Heads out;
  out.intents = task.intents;
  out.ngram = fit_ngram_head(train, task, seed);
  if (train.dim > 0) out.encoder = fit_encoder_head(train, task, seed);
  return out;
}

Guess guess_of(const light::Heads& heads, const Task& task, const Examples& all, size_t i) {
  light::Scores scores;
  light::Grams grams;
  light::Sparse sparse;
  light::extract_grams(all.normalised[i], task.language, grams);
  heads.ngram.vocabulary.weigh(grams, sparse);
  scores.ngram.resize(heads.classes());
  scores.encoder.resize(heads.classes());
  heads.ngram.logits(sparse, scores.ngram);
  if (all.dim > 0) heads.encoder.logits(all.embedding(i), scores.encoder);
  std::vector<float> p;
  light::fuse(all.dim > 0 ? light::Fusion{} : light::Fusion{1, 0}, scores, p);
  std::vector<uint32_t> order(p.size());
  std::iota(order.begin(), order.end(), 0U);
  const size_t kept = std::min(kKept, p.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<long>(kept), order.end(),
                    [&](uint32_t a, uint32_t b) { return p[a] != p[b] ? p[a] > p[b] : a < b; });
  Guess out;
  out.own = std::exp(p[all.labels[i]]);
  for (size_t k = 0; k < kept; ++k) {
    out.classes[k] = order[k];
    out.probabilities[k] = std::exp(p[order[k]]);
  }
  return out;
}

std::vector<Guess> out_of_fold(const Examples& all, const Task& task, const LintOptions& options) {
  const std::vector<size_t> fold = make_folds(all.normalised, all.labels, kFolds, options.seed);
  std::vector<Guess> out(all.size());
  Progress progress("comparing", kFolds, options.progress);
  parallel_for(kFolds, [&](size_t f) {
    const light::Heads heads = fit(training_rows(all, fold, f, options.seed), task, options.seed);
    for (size_t i = 0; i < all.size(); ++i) {
      if (fold[i] == f) out[i] = guess_of(heads, task, all, i);
    }
    progress.advance();
  });
  return out;
}

// Confident learning: a class counts for a row when it is as likely as it is on average for its own rows.
std::vector<float> self_confidence(const std::vector<Guess>& guesses, const Examples& all, size_t classes) {
  std::vector<float> sum(classes);
  std::vector<size_t> count(classes);
  for (size_t i = 0; i < guesses.size(); ++i) {
    sum[all.labels[i]] += guesses[i].own;
    ++count[all.labels[i]];
  }
  for (size_t k = 0; k < classes; ++k) sum[k] = count[k] > 0 ? sum[k] / static_cast<float>(count[k]) : 1.0F;
  return sum;
}

void check_wrong(const LintRows& lint, const Examples& all, const std::vector<Guess>& guesses,
                 std::vector<Finding>& out) {
  const std::vector<float> usual = self_confidence(guesses, all, lint.intents.size() + 1);
  for (size_t i = 0; i < guesses.size(); ++i) {
    const Guess& guess = guesses[i];
    const uint32_t best = guess.classes[0], label = all.labels[i];
    const float sure = guess.probabilities[0];
    if (best == label || sure < std::min(usual[best], kPlenty) || sure < kSure || guess.own > kDoubt) continue;
    if (label == lint.intents.size() && sure < kSureOfLeak) continue;
    const bool negative = std::max(best, label) == lint.intents.size();
    const Located& where = *lint.rows[i].where;
    out.push_back({negative ? LintKind::kLeak : LintKind::kWrongLabel, sure - guess.own, where.file, where.line,
                   fmt::format("\"{}\" of {} reads like {} ({:.0f} % against {:.0f} %)", where.text, lint.named(label),
                               lint.named(best), 100 * sure, 100 * guess.own)});
  }
}

void check_merge(const LintRows& lint, const Examples& all, const std::vector<Guess>& guesses,
                 std::vector<Finding>& out) {
  std::map<std::pair<uint32_t, uint32_t>, size_t> taken;  // (label, guess) → rows
  std::vector<double> count(lint.intents.size() + 1);
  for (size_t i = 0; i < guesses.size(); ++i) {
    count[all.labels[i]] += 1;
    if (guesses[i].classes[0] != all.labels[i]) ++taken[{all.labels[i], guesses[i].classes[0]}];
  }
  for (const auto& [pair, there] : taken) {
    const auto [a, b] = pair;
    const auto reverse = taken.find({b, a});
    if (a > b || b == lint.intents.size() || reverse == taken.end()) continue;
    const size_t back = reverse->second;
    const double of_a = static_cast<double>(there) / count[a], of_b = static_cast<double>(back) / count[b];
    if (there + back < kFewestConfused || std::min(of_a, of_b) < kOftenEach || of_a + of_b < kOftenBoth) continue;
    const Located& name = lint.intents[a]->name;
    out.push_back(
        {LintKind::kMerge, of_a + of_b, name.file, name.line,
         fmt::format("{} and {}: {} of {} and {} of {} phrasings in {} are taken for the other's", lint.named(a),
                     lint.named(b), there, count[a], back, count[b], text::language_name(lint.language))});
  }
}

}  // namespace

void check_labels(const LintRows& lint, const nn::Encoder* encoder, const LintOptions& options,
                  std::vector<Finding>& out, std::vector<std::string>& notes) {
  const std::string_view language = text::language_name(lint.language);
  const size_t intents = lint.intents.size();
  if (intents < 2 || lint.rows.size() < kFewest || intents > kMostClasses) {
    notes.push_back(fmt::format("{}: labels were not compared: {} of {} (from {} of 2 to {})", language,
                                counted(lint.rows.size(), "phrasing"), counted(intents, "intent"), kFewest,
                                kMostClasses));
    return;
  }
  if (encoder != nullptr && lint.rows.size() > kMostEncoded) {
    notes.push_back(fmt::format("{}: {} phrasings were compared by n-grams only (the encoder is used up to {})",
                                language, lint.rows.size(), kMostEncoded));
    encoder = nullptr;
  }
  Examples all;
  if (encoder != nullptr) {
    std::vector<Question> questions;
    questions.reserve(lint.rows.size());
    for (const LintRow& row : lint.rows) questions.push_back({row.where->text, row.label});
    all = embed(*encoder, questions, options.progress);
  } else {
    for (const LintRow& row : lint.rows) all.add(row.normalised, row.label, {});
  }
  const std::vector<Guess> guesses = out_of_fold(all, {intents, lint.language}, options);
  check_wrong(lint, all, guesses, out);
  check_merge(lint, all, guesses, out);
}

}  // namespace hengshi::train
