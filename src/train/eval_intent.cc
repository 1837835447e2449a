#include "train/eval_intent.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <unordered_set>

#include "light/opinion.h"
#include "train/eval_data.h"
#include "train/eval_report.h"
#include "train/fit_model.h"
#include "train/metrics.h"

namespace hengshi::train {

namespace {

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
  return {std::exp(*best), in_scope && label == static_cast<uint32_t>(best - p.begin()), p[intents] > *best, in_scope};
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
                     in_scope};
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

Embedded embed_all(const EvalData& data, const nn::Encoder& encoder, bool progress) {
  const auto start = std::chrono::steady_clock::now();
  Embedded out;
  out.train = embed(encoder, data.train, progress);
  add_foreign(out.train, encoder, data.language, static_cast<uint32_t>(data.intents.size()));
  out.dev = embed(encoder, data.dev, progress);
  out.seconds = seconds_since(start);
  out.test = embed(encoder, data.test, progress);
  return out;
}

Figures figures_of_seed(const EvalData& data, const Embedded& embedded, const nn::Encoder& encoder,
                        const EvalIntentOptions& options, uint64_t seed) {
  const auto start = std::chrono::steady_clock::now();
  const Task task{data.intents.size(), data.language};
  const Fitted fitted =
      fit_model(embedded.train, embedded.dev, task, {seed, options.oos_share, {0.95, 0.98}, options.progress});
  const double train_s = embedded.seconds + seconds_since(start);
  const Tested tested = run_test(fitted.weights, embedded.test, embedded.train);
  const Ece ece = calibration_error(tested.whole, options.oos_share, seed);
  Figures out = {{"accuracy", accuracy(tested.whole)},
                 {"accuracy_dedup", accuracy(tested.unrepeated)},
                 {"oos_auroc", oos_auroc(tested.whole)},
                 {"ece", ece.ece},
                 {"ece_floor", ece.floor},
                 {"oos_share", options.oos_share},
                 {"train_s", train_s},
                 {"us_per_query_p50", median_us(fitted.weights, encoder, data.test)},
                 {"rows", static_cast<double>(data.test.size())},
                 {"seeds", static_cast<double>(options.seeds)}};
  add_threshold(out, "at95", tested, fitted.thresholds[0].value, seed);
  add_threshold(out, "at98", tested, fitted.thresholds[1].value, seed);
  out.emplace_back("oracle95", oracle_coverage(tested.whole, 0.95));
  out.emplace_back("oracle98", oracle_coverage(tested.whole, 0.98));
  for (const auto& [name, rows] : {std::pair{"ngram", &tested.ngram}, {"encoder", &tested.encoder}}) {
    out.emplace_back(std::string(name) + ".accuracy", accuracy(*rows));
    out.emplace_back(std::string(name) + ".oos_auroc", oos_auroc(*rows));
    out.emplace_back(std::string(name) + ".oracle95", oracle_coverage(*rows, 0.95));
    out.emplace_back(std::string(name) + ".oracle98", oracle_coverage(*rows, 0.98));
  }
  return out;
}

std::string table_of(const EvalData& data, const Embedded& embedded, const nn::Encoder& encoder,
                     const std::vector<Summary>& figures) {
  const auto both = [&](const std::string& name) {
    return fmt::format("{:6.2f} ± {:4.2f}", mean_of(figures, name), deviation_of(figures, name));
  };
  std::string out =
      fmt::format("{} intents, {}, encoder {}; {} training rows, {} held out, {} tested; {:g} seed(s)\n\n",
                  data.intents.size(), text::language_name(data.language), encoder.name(), embedded.train.size(),
                  embedded.dev.size(), embedded.test.size(), mean_of(figures, "seeds"));
  out += fmt::format("{:<28}{:>14}{:>16}{:>16}{:>16}\n", "", "accuracy", "oos AUROC", "oracle cov 95", "oracle cov 98");
  for (const auto& [name, prefix] :
       {std::pair{"n-gram linear alone", "ngram."}, {"encoder head alone", "encoder."}, {"both, judged", ""}}) {
    const std::string p = prefix;
    out += fmt::format("{:<28}{:>15}{:>17}{:>17}{:>17}\n", name, both(p + "accuracy"), both(p + "oos_auroc"),
                       both(p + "oracle95"), both(p + "oracle98"));
  }
  out += fmt::format("\naccuracy without texts seen in training {}; ECE {:.4f} (floor {:.4f}) at {:g} out of scope\n",
                     both("accuracy_dedup"), mean_of(figures, "ece"), mean_of(figures, "ece_floor"),
                     mean_of(figures, "oos_share"));
  for (const auto& [name, aim] : {std::pair{"at95.", 95}, {"at98.", 98}}) {
    const std::string p = name;
    const auto of = [&](const char* key) { return mean_of(figures, p + key); };
    out += fmt::format(
        "aiming at {} %: threshold {:.3f} from held-out rows; realised precision {:.2f} [{:.2f}, {:.2f}], "
        "coverage {:.2f} [{:.2f}, {:.2f}]\n",
        aim, of("threshold"), of("precision"), of("precision_lo"), of("precision_hi"), of("coverage"),
        of("coverage_lo"), of("coverage_hi"));
  }
  return out + fmt::format("training {:.1f} s; a question {:.0f} µs (encoder and heads, median)",
                           mean_of(figures, "train_s"), mean_of(figures, "us_per_query_p50"));
}

Result<std::string> evaluate(const EvalData& data, const EvalIntentOptions& options, const nn::Encoder& encoder) {
  const Embedded embedded = embed_all(data, encoder, options.progress);
  std::vector<Figures> per_seed;
  for (uint64_t seed = 1; seed <= std::max<size_t>(options.seeds, 1); ++seed) {
    per_seed.push_back(figures_of_seed(data, embedded, encoder, options, seed));
  }
  std::vector<Summary> figures = summarise(per_seed);
  std::string out = table_of(data, embedded, encoder, figures);
  if (!options.json) return out;
  std::erase_if(figures,
                [](const Summary& one) { return one.name.starts_with("ngram.") || one.name.starts_with("encoder."); });
  return out + "\n" + json_line(figures);
}

}  // namespace

Result<std::string> eval_intent(const EvalIntentOptions& options, const nn::Encoder& encoder) {
  TRY(const EvalData data, read_eval_data(options));
  return evaluate(data, options, encoder);
}

Result<std::string> eval_intent(const EvalIntentOptions& options) {
  TRY(const EvalData data, read_eval_data(options));
  TRY(const auto encoder, load_encoder(options.encoder, options.models, data.language));
  return evaluate(data, options, *encoder);
}

}  // namespace hengshi::train
