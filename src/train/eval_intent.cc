#include "train/eval_intent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>
#include <system_error>
#include <unordered_set>

#include "light/opinion.h"
#include "train/eval_data.h"
#include "train/eval_report.h"
#include "train/fit_model.h"
#include "train/metrics.h"
#include "train/noise_copies.h"

namespace hengshi::train {

namespace {

constexpr double kUsualSoftmax = 0.65;
constexpr size_t kTimed = 500;  // test questions that are timed one by one

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// One head by itself: its softmax is the confidence.
Scored alone(std::span<const float> logits, uint32_t label, size_t intents) {
  std::vector<float> p(logits.begin(), logits.end());
  light::log_softmax(p);
  const auto best = std::max_element(p.begin(), p.begin() + static_cast<long>(intents));
  const bool in_scope = label != intents;
  return {std::exp(*best),    in_scope && label == static_cast<uint32_t>(best - p.begin()),
          p[intents] > *best, in_scope,
          p[intents] > *best, std::exp(*best)};
}

struct Tested {
  std::vector<Scored> whole, ngram, encoder, unrepeated;
};

Tested run_test(const light::Weights& weights, const Examples& test, const Examples& train) {
  const std::unordered_set<std::string_view> known(train.normalised.begin(), train.normalised.end());
  const size_t intents = weights.heads.intents;
  Tested out;
  for (size_t i = 0; i < test.size(); ++i) {
    const light::Opinion opinion = light::form_opinion(weights, test.normalised[i], test.embedding(i));
    const bool in_scope = test.labels[i] != intents;
    const Scored row{opinion.confidence, in_scope && opinion.intent == test.labels[i], !opinion.refused_because.empty(),
                     in_scope,           opinion.refused_because == "out_of_scope",    opinion.scope};
    out.whole.push_back(row);
    if (!known.contains(test.normalised[i])) out.unrepeated.push_back(row);
    const auto scores = light::score(weights.heads, weights.language, test.normalised[i], test.embedding(i));
    out.ngram.push_back(alone(scores.ngram, test.labels[i], intents));
    out.encoder.push_back(alone(scores.encoder, test.labels[i], intents));
  }
  return out;
}

void add_threshold(Figures& out, const std::string& group, const Tested& tested, double threshold, uint64_t seed) {
  const AtThreshold at = at_threshold(tested.whole, threshold, seed);
  for (const auto& [name, value] : {std::pair{"threshold", threshold},
                                    {"precision", at.precision},
                                    {"precision_lo", at.precision_lo},
                                    {"precision_hi", at.precision_hi},
                                    {"coverage", at.coverage},
                                    {"coverage_lo", at.coverage_lo},
                                    {"coverage_hi", at.coverage_hi}}) {
    out.emplace_back(group + "." + name, value);
  }
}

double median_us(const light::Weights& weights, const nn::Encoder& encoder, std::span<const Question> test) {
  std::vector<double> times;
  std::vector<float> embedding(encoder.dim());
  for (size_t i = 0; i < std::min(test.size(), kTimed); ++i) {
    const auto start = std::chrono::steady_clock::now();
    encoder.encode(test[i].text, embedding);
    (void)light::form_opinion(weights, text::normalise(test[i].text), embedding);
    times.push_back(1e6 * seconds_since(start));
  }
  if (times.empty()) return 0;
  std::nth_element(times.begin(), times.begin() + static_cast<long>(times.size() / 2), times.end());
  return times[times.size() / 2];
}

struct Embedded {
  Examples train, dev, test;
  double seconds = 0;  // to encode what trains and tunes
};

Embedded embed_all(const EvalData& data, const nn::Encoder& encoder, const EvalIntentOptions& options,
                   const Noise* noise) {
  const bool progress = options.progress;
  const auto start = std::chrono::steady_clock::now();
  Embedded out;
  out.train = embed(encoder, data.train, progress);
  add_foreign(out.train, encoder, data.language, static_cast<uint32_t>(data.intents.size()));
  if (noise != nullptr)
    add_copies(out.train, encoder, *noise, copies_per_row(options.copies, out.train.size()), 1, progress);
  out.dev = embed(encoder, noise != nullptr ? with_errors(data.dev, kJudgedWithError, *noise, 1) : data.dev, progress);
  out.seconds = seconds_since(start);
  out.test = embed(encoder, data.test, progress);
  return out;
}

void add_baseline(Figures& out, const std::string& name, std::span<const Scored> rows) {
  out.emplace_back(name + ".accuracy", accuracy(rows));
  out.emplace_back(name + ".oos_auroc", oos_auroc(rows));
  out.emplace_back(name + ".oracle95", oracle_coverage(rows, 0.95));
  out.emplace_back(name + ".oracle98", oracle_coverage(rows, 0.98));
}

Figures figures_of(const Tested& tested, const Fitted& fitted, const EvalIntentOptions& options, double oos_share,
                   uint64_t seed) {
  const Ece ece = calibration_error(tested.whole, oos_share, seed);
  Figures out = {{"accuracy", accuracy(tested.whole)},
                 {"accuracy_dedup", accuracy(tested.unrepeated)},
                 {"oos_auroc", oos_auroc(tested.whole)},
                 {"ece", ece.ece},
                 {"ece_floor", ece.floor},
                 {"brier", brier(tested.whole, oos_share)},
                 {"oos_share", oos_share},
                 {"rows", static_cast<double>(tested.whole.size())},
                 {"seeds", static_cast<double>(options.seeds)}};
  add_threshold(out, "at95", tested, fitted.thresholds[0].value, seed);
  add_threshold(out, "at98", tested, fitted.thresholds[1].value, seed);
  out.emplace_back("oracle95", oracle_coverage(tested.whole, 0.95));
  out.emplace_back("oracle98", oracle_coverage(tested.whole, 0.98));
  return out;
}

// What others do: the softmax of a head on the frozen encoder, answered from 0.65 on.
void add_softmax(Figures& out, const Tested& frozen, uint64_t seed) {
  const AtThreshold at = at_threshold(frozen.encoder, kUsualSoftmax, seed);
  out.emplace_back("softmax.precision", at.precision);
  out.emplace_back("softmax.coverage", at.coverage);
}

Result<Figures> figures_of_seed(const EvalData& data, const Embedded& embedded, const nn::Encoder& encoder,
                                const EvalIntentOptions& options, const Noise* noise, uint64_t seed) {
  auto start = std::chrono::steady_clock::now();
  const Task task{data.intents.size(), data.language};
  const FitOptions fit{seed, data.oos_share, {0.95, 0.98}, options.progress, noise};
  const Fitted fitted = fit_model(embedded.train, embedded.dev, task, fit);
  double train_s = embedded.seconds + seconds_since(start);
  const Tested frozen = run_test(fitted.weights, embedded.test, embedded.train);
  Figures out = figures_of(frozen, fitted, options, data.oos_share, seed);
  double us = median_us(fitted.weights, encoder, data.test);
  Figures baselines;
  add_baseline(baselines, "ngram", frozen.ngram);
  add_baseline(baselines, "encoder", frozen.encoder);
  add_baseline(baselines, "frozen", frozen.whole);
  add_softmax(baselines, frozen, seed);
  if (!options.frozen) {
    start = std::chrono::steady_clock::now();
    TuneSettings settings = options.tuning;
    settings.work += fmt::format("/seed-{}", seed);
    TRY(const TunedFit tuned, fit_tuned_model(embedded.train, embedded.dev, task, fit, settings));
    train_s = embedded.seconds + seconds_since(start);
    const Examples test = embed_again(*tuned.encoder, embedded.test, embedded.test.size(), options.progress);
    const Tested tested = run_test(tuned.fitted.weights, test, embedded.train);
    out = figures_of(tested, tuned.fitted, options, data.oos_share, seed);
    us = median_us(tuned.fitted.weights, *tuned.encoder, data.test);
    add_baseline(baselines, "tuned", tested.encoder);
  }
  out.emplace_back("train_s", train_s);
  out.emplace_back("us_per_query_p50", us);
  out.insert(out.end(), baselines.begin(), baselines.end());
  return out;
}

std::string table_of(const EvalData& data, const Embedded& embedded, const nn::Encoder& encoder,
                     const std::vector<Summary>& figures) {
  const bool frozen =
      std::none_of(figures.begin(), figures.end(), [](const Summary& one) { return one.name == "tuned.accuracy"; });
  const auto both = [&](const std::string& name) {
    return fmt::format("{:6.2f} ± {:4.2f}", mean_of(figures, name), deviation_of(figures, name));
  };
  std::string out =
      fmt::format("{} intents, {}, encoder {}; {} training rows, {} held out, {} tested; {:g} seed(s)\n\n",
                  data.intents.size(), text::language_name(data.language), encoder.name(), embedded.train.size(),
                  embedded.dev.size(), embedded.test.size(), mean_of(figures, "seeds"));
  out += fmt::format("{:<28}{:>14}{:>16}{:>16}{:>16}\n", "", "accuracy", "oos AUROC", "oracle cov 95", "oracle cov 98");
  for (const auto& [name, prefix] : {std::pair{"n-gram linear alone", "ngram."},
                                     {"frozen encoder, head alone", "encoder."},
                                     {"frozen, both judged", "frozen."},
                                     {"tuned encoder, head alone", "tuned."},
                                     {"tuned, both judged", ""}}) {
    const std::string p = prefix;
    if (frozen && (p.empty() || p == "tuned.")) continue;
    out += fmt::format("{:<28}{:>15}{:>17}{:>17}{:>17}\n", name, both(p + "accuracy"), both(p + "oos_auroc"),
                       both(p + "oracle95"), both(p + "oracle98"));
  }
  out += fmt::format(
      "\naccuracy without texts seen in training {}; ECE {:.4f} (floor {:.4f}), Brier {:.4f} at {:g} out of scope\n",
      both("accuracy_dedup"), mean_of(figures, "ece"), mean_of(figures, "ece_floor"), mean_of(figures, "brier"),
      mean_of(figures, "oos_share"));
  for (const auto& [name, aim] : {std::pair{"at95.", 95}, {"at98.", 98}}) {
    const std::string p = name;
    const auto of = [&](const char* key) { return mean_of(figures, p + key); };
    if (of("coverage") == 0) {
      out += fmt::format("aiming at {} %: no threshold is certain on the held-out rows, never answers\n", aim);
      continue;
    }
    out += fmt::format(
        "aiming at {} %: threshold {:.3f} from held-out rows; realised precision {:.2f} [{:.2f}, {:.2f}], "
        "coverage {:.2f} [{:.2f}, {:.2f}]\n",
        aim, of("threshold"), of("precision"), of("precision_lo"), of("precision_hi"), of("coverage"),
        of("coverage_lo"), of("coverage_hi"));
  }
  out += fmt::format("softmax of the frozen encoder's head from {:g} on: precision {:.2f}, coverage {:.2f}\n",
                     kUsualSoftmax, mean_of(figures, "softmax.precision"), mean_of(figures, "softmax.coverage"));
  return out + fmt::format("training {:.1f} s; a question {:.0f} µs (encoder and heads, median)",
                           mean_of(figures, "train_s"), mean_of(figures, "us_per_query_p50"));
}

Result<std::string> evaluate(const EvalData& data, const EvalIntentOptions& options, const nn::Encoder& encoder) {
  const std::optional<Noise> noise = options.copies.value_or(1) > 0 ? noise_of(data.language) : std::nullopt;
  const Noise* used = noise ? &*noise : nullptr;
  const Embedded embedded = embed_all(data, encoder, options, used);
  std::vector<Figures> per_seed;
  for (uint64_t seed = 1; seed <= std::max<size_t>(options.seeds, 1); ++seed) {
    TRY(per_seed.emplace_back(), figures_of_seed(data, embedded, encoder, options, used, seed));
  }
  std::vector<Summary> figures = summarise(per_seed);
  std::string out = table_of(data, embedded, encoder, figures);
  if (!options.json) return out;
  return out + "\n" + json_line(figures);
}

// Removed with all that is in it.
class WorkFolder {
 public:
  WorkFolder()
      : path_((std::filesystem::temp_directory_path() / ("hengshi-eval-" + std::to_string(::getpid()))).string()) {}
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

Result<std::string> eval_intent(const EvalIntentOptions& options, const nn::Encoder& encoder) {
  TRY(const EvalData data, read_eval_data(options));
  EvalIntentOptions frozen = options;
  frozen.frozen = true;
  return evaluate(data, frozen, encoder);
}

Result<std::string> eval_intent(const EvalIntentOptions& options) {
  TRY(const EvalData data, read_eval_data(options));
  TRY(const auto encoder, load_encoder(options.encoder, options.models, data.language));
  EvalIntentOptions filled = options;
  filled.tuning.base = encoder_folder(options.encoder, options.models, data.language);
  const WorkFolder own;
  if (filled.tuning.work.empty()) filled.tuning.work = own.path();
  return evaluate(data, filled, *encoder);
}

}  // namespace hengshi::train
