#include "train/eval_noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "light/opinion.h"
#include "train/eval_data.h"
#include "train/eval_report.h"
#include "train/fit_model.h"
#include "train/metrics.h"
#include "train/noise_copies.h"

namespace hengshi::train {

namespace {

constexpr double kPrecision = 0.95;  // at which coverage is compared
constexpr size_t kFifth = 5;
constexpr uint32_t kNoAnswer = std::numeric_limits<uint32_t>::max();

struct Variant {
  std::string name;
  bool kind = false;  // errors of one kind alone
  std::vector<size_t> spoiled;
  Examples rows;
};

struct Prepared {
  EvalData data;
  Examples train, dev;
  std::vector<Variant> tests;  // the clean one first
};

// The clean rows with some of them written anew.
Variant spoil(const Prepared& from, const nn::Encoder& encoder, std::string name, auto&& rewrite) {
  Variant out{std::move(name), false, {}, from.tests.front().rows};
  std::vector<Question> changed;
  for (size_t i = 0; i < from.data.test.size(); ++i) {
    std::optional<std::string> text = rewrite(i, from.data.test[i].text);
    if (!text || *text == from.data.test[i].text) continue;
    changed.push_back({std::move(*text), from.data.test[i].label});
    out.spoiled.push_back(i);
  }
  const Examples embedded = embed(encoder, changed, false);
  for (size_t k = 0; k < out.spoiled.size(); ++k) {
    const auto vector = embedded.embedding(k);
    out.rows.texts[out.spoiled[k]] = embedded.texts[k];
    out.rows.normalised[out.spoiled[k]] = embedded.normalised[k];
    std::copy(vector.begin(), vector.end(), &out.rows.embeddings[out.spoiled[k] * out.rows.dim]);
  }
  return out;
}

void add_tests(Prepared& to, const Noise& noise, const nn::Encoder& encoder, uint64_t seed) {
  to.tests.push_back({"clean", false, {}, embed(encoder, to.data.test, false)});
  Rng rng(seed);
  const auto typed = [&](const std::string& text) { return noise.corrupt(text, 1, NoiseMix::kTyping, rng); };
  to.tests.push_back(spoil(to, encoder, "fifth", [&](size_t i, const std::string& text) {
    return i % kFifth == 0 ? std::optional(typed(text)) : std::nullopt;
  }));
  to.tests.push_back(
      spoil(to, encoder, "every", [&](size_t, const std::string& text) { return std::optional(typed(text)); }));
  for (const NoiseKind kind : noise.kinds(NoiseMix::kAll)) {
    to.tests.push_back(spoil(to, encoder, std::string(noise_name(kind)),
                             [&](size_t, const std::string& text) { return noise.corrupt_as(kind, text, rng); }));
    to.tests.back().kind = true;
  }
}

Prepared prepare(EvalData data, const Noise& noise, const nn::Encoder& encoder, const EvalNoiseOptions& options) {
  Prepared out{std::move(data), {}, {}, {}};
  out.train = embed(encoder, out.data.train, options.data.progress);
  add_foreign(out.train, encoder, out.data.language, static_cast<uint32_t>(out.data.intents.size()));
  out.dev = embed(encoder, out.data.dev, options.data.progress);
  add_tests(out, noise, encoder, options.noise_seed);
  return out;
}

struct Verdicts {
  std::vector<Scored> rows;
  std::vector<uint32_t> answers;  // the intent answered with, or kNoAnswer
};

Verdicts run_test(const Fitted& fitted, const Examples& test) {
  const size_t intents = fitted.weights.heads.intents;
  const double threshold = fitted.thresholds.front().value;
  Verdicts out;
  for (size_t i = 0; i < test.size(); ++i) {
    const light::Opinion opinion = light::form_opinion(fitted.weights, test.normalised[i], test.embedding(i));
    const bool in_scope = test.labels[i] != intents, refused = !opinion.refused_because.empty();
    out.rows.push_back({opinion.confidence, in_scope && opinion.intent == test.labels[i], refused, in_scope,
                        opinion.refused_because == "out_of_scope", opinion.scope});
    out.answers.push_back(refused || opinion.confidence < threshold ? kNoAnswer : opinion.intent);
  }
  return out;
}

double changed_share(const Verdicts& before, const Verdicts& after, std::span<const size_t> rows) {
  const auto changed =
      std::count_if(rows.begin(), rows.end(), [&](size_t i) { return before.answers[i] != after.answers[i]; });
  return rows.empty() ? 0 : 100.0 * static_cast<double>(changed) / static_cast<double>(rows.size());
}

// Names: "<model>.<test>_<figure>".
void add_figures(Figures& out, const std::string& model, const Prepared& from, const Fitted& fitted, uint64_t seed) {
  const Verdicts clean = run_test(fitted, from.tests.front().rows);
  const double coverage = oracle_coverage(clean.rows, kPrecision);
  for (const Variant& test : from.tests) {
    const Verdicts verdicts = run_test(fitted, test.rows);
    const std::string prefix = model + "." + test.name + "_";
    const double kept = oracle_coverage(verdicts.rows, kPrecision);
    out.emplace_back(prefix + "accuracy", accuracy(verdicts.rows));
    out.emplace_back(prefix + "coverage95", kept);
    out.emplace_back(prefix + "loss95", coverage - kept);
    out.emplace_back(prefix + "changed", changed_share(clean, verdicts, test.spoiled));
    if (test.kind) continue;
    const AtThreshold at = at_threshold(verdicts.rows, fitted.thresholds.front().value, seed);
    out.emplace_back(prefix + "precision", at.precision);
    out.emplace_back(prefix + "coverage", at.coverage);
  }
}

Figures figures_of_seed(const Prepared& from, const Noise& noise, const nn::Encoder& encoder,
                        const EvalNoiseOptions& options, uint64_t seed) {
  const Task task{from.data.intents.size(), from.data.language};
  const FitOptions fit{seed, from.data.oos_share, {kPrecision}, options.data.progress};
  Figures out;
  add_figures(out, "without", from, fit_model(from.train, from.dev, task, fit), seed);
  Examples train = from.train;
  add_copies(train, encoder, noise, copies_per_row(options.data.copies, train.size()), seed, options.data.progress);
  const Examples dev = embed(encoder, with_errors(from.data.dev, kJudgedWithError, noise, seed), options.data.progress);
  add_figures(out, "with", from, fit_model(train, dev, task, fit), seed);
  return out;
}

double corruptions_per_second(const Noise& noise, const std::vector<Question>& questions) {
  const std::clock_t start = std::clock();
  Rng rng(1);
  for (const Question& one : questions) (void)noise.corrupt(one.text, 1, NoiseMix::kAll, rng);
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  return static_cast<double>(questions.size()) / std::max(took, 1e-6);
}

void add_summary(std::vector<Summary>& figures, const Prepared& from, const Noise& noise, size_t seeds) {
  const double without = mean_of(figures, "without.every_loss95");
  const auto add = [&](const char* name, double value) { figures.push_back({name, value, 0}); };
  add("every_ratio", without > 0 ? mean_of(figures, "with.every_loss95") / without : 0);
  add("corruptions_per_s", corruptions_per_second(noise, from.data.train));
  add("rows", static_cast<double>(from.data.test.size()));
  add("seeds", static_cast<double>(seeds));
}

std::string both(const std::vector<Summary>& figures, const std::string& name) {
  return fmt::format("{:.2f} ± {:.2f}", mean_of(figures, name), deviation_of(figures, name));
}

std::string tests_table(const std::vector<Summary>& figures) {
  std::string out = fmt::format("{:<16}{:<34}{:>15}{:>15}{:>15}{:>15}{:>15}{:>15}\n", "trained", "tested", "accuracy",
                                "precision", "coverage", "cov at 95 %", "points lost", "changed %");
  for (const auto& [model, name] : {std::pair{"without", "without noise"}, {"with", "with noise"}}) {
    for (const auto& [test, words] : {std::pair{"clean", "as it is"},
                                      {"fifth", "one error in every fifth question"},
                                      {"every", "one error in every question"}}) {
      const std::string p = std::string(model) + "." + test + "_";
      out += fmt::format("{:<16}{:<34}", name, words);
      for (const char* figure : {"accuracy", "precision", "coverage", "coverage95", "loss95", "changed"}) {
        out += fmt::format("{:>16}", both(figures, p + figure));  // ± is two bytes, one column
      }
      out += '\n';
    }
  }
  return out;
}

std::string kinds_table(const std::vector<Summary>& figures, const Prepared& from, const Noise& noise) {
  const std::vector<NoiseKind> kinds = noise.kinds(NoiseMix::kAll);
  std::string out =
      fmt::format("{:<16}{:<8}{:>8}{:>14}{:>14}{:>14}{:>14}{:>14}{:>14}\n", "one error of", "typing", "rows",
                  "acc without", "acc with", "lost without", "lost with", "chg without", "chg with");
  for (size_t i = 0; i < kinds.size(); ++i) {
    const std::string name(noise_name(kinds[i]));
    const size_t first = from.tests.size() - kinds.size();
    out += fmt::format("{:<16}{:<8}{:>8}", name, is_typing_error(kinds[i]) ? "yes" : "",
                       from.tests[first + i].spoiled.size());
    for (const char* figure : {"accuracy", "loss95", "changed"}) {
      for (const char* model : {"without.", "with."}) {
        out += fmt::format("{:>14.2f}", mean_of(figures, std::string(model) + name + "_" + figure));
      }
    }
    out += '\n';
  }
  return out;
}

std::string report(const std::vector<Summary>& figures, const Prepared& from, const Noise& noise,
                   const EvalNoiseOptions& options) {
  std::string out = fmt::format(
      "{} intents, {}; {} training rows, {} tested; {} seed(s), test errors by seed {}\n"
      "with noise: {:g} noisy copies of a training row, an error in every fifth held-out row\n"
      "precision, coverage: at the threshold chosen on held-out rows; cov at 95 %: where 95 % of the answered are "
      "right\n"
      "changed: of the questions with an error, those answered otherwise than without it, an answer given up "
      "included\n\n",
      from.data.intents.size(), text::language_name(from.data.language), from.data.train.size(), from.data.test.size(),
      options.data.seeds, options.noise_seed, copies_per_row(options.data.copies, from.train.size()));
  out += tests_table(figures) + "\n" + kinds_table(figures, from, noise);
  const auto lost = [&](const char* name) { return mean_of(figures, name); };
  out += fmt::format("\none error in every fifth question costs {:.2f} points with noise, {:.2f} without\n",
                     lost("with.fifth_loss95"), lost("without.fifth_loss95"));
  out += fmt::format("one error in every question costs {:.2f} with noise, {:.2f} without: {:.2f} times as much\n",
                     lost("with.every_loss95"), lost("without.every_loss95"), mean_of(figures, "every_ratio"));
  out += fmt::format("{:.0f} corruptions per second of processor time", mean_of(figures, "corruptions_per_s"));
  return options.data.json ? out + "\n" + json_line(figures) : out;
}

Result<std::string> evaluate(EvalData data, const EvalNoiseOptions& options, const nn::Encoder& encoder) {
  TRY(const Noise noise, Noise::load(data.language));
  const Prepared prepared = prepare(std::move(data), noise, encoder, options);
  const Task task{prepared.data.intents.size(), prepared.data.language};
  if (split_for_judge(prepared.train, prepared.dev, task, 2, {.oos_share = prepared.data.oos_share}).folds > 0) {
    return fail(
        ErrorCode::kInvalidRequest,
        fmt::format("{} held-out rows are too few: the judge would be fitted on folds of the training rows, with a "
                    "row in one and its noisy copy in another; give a --dev file with 1,000 in-scope rows and 50 "
                    "of oos at least",
                    prepared.dev.size()),
        "dev");
  }
  const size_t seeds = std::max<size_t>(options.data.seeds, 1);
  std::vector<Figures> per_seed;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    per_seed.push_back(figures_of_seed(prepared, noise, encoder, options, seed));
  }
  std::vector<Summary> figures = summarise(per_seed);
  add_summary(figures, prepared, noise, seeds);
  return report(figures, prepared, noise, options);
}

}  // namespace

Result<std::string> eval_noise(const EvalNoiseOptions& options, const nn::Encoder& encoder) {
  TRY(EvalData data, read_eval_data(options.data));
  return evaluate(std::move(data), options, encoder);
}

Result<std::string> eval_noise(const EvalNoiseOptions& options) {
  TRY(EvalData data, read_eval_data(options.data));
  TRY(const auto encoder, load_encoder(options.data.encoder, options.data.models, data.language));
  return evaluate(std::move(data), options, *encoder);
}

}  // namespace hengshi::train
