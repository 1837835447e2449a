#include "train/eval_risk.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "light/opinion.h"
#include "train/eval_data.h"
#include "train/eval_report.h"
#include "train/fit_model.h"
#include "train/metrics.h"
#include "train/parallel.h"
#include "train/risk.h"
#include "train/rng.h"

namespace hengshi::train {

namespace {

void score(const light::Weights& weights, const Examples& rows, std::vector<Scored>& out) {
  const size_t intents = weights.heads.intents;
  for (size_t i = 0; i < rows.size(); ++i) {
    const light::Opinion opinion = light::form_opinion(weights, rows.normalised[i], rows.embedding(i));
    const bool in_scope = rows.labels[i] != intents;
    out.push_back(
        {opinion.confidence, in_scope && opinion.intent == rows.labels[i], !opinion.refused_because.empty(), in_scope});
  }
}

struct Halves {
  std::vector<Scored> calibration, test;
};

// Each sample is halved by itself, so that both halves weigh alike.
Halves split(const std::vector<Scored>& rows, Rng& rng) {
  Halves out;
  for (const bool in_scope : {true, false}) {
    std::vector<Scored> part;
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(part),
                 [&](const Scored& row) { return row.in_scope == in_scope; });
    rng.shuffle(part);
    const auto middle = part.begin() + static_cast<long>(part.size() / 2);
    out.calibration.insert(out.calibration.end(), part.begin(), middle);
    out.test.insert(out.test.end(), middle, part.end());
  }
  return out;
}

// As many rows as a half, drawn with replacement: all rows are then the very population they are drawn from.
std::vector<Scored> redraw(const std::vector<Scored>& rows, Rng& rng) {
  std::vector<Scored> out;
  for (const bool in_scope : {true, false}) {
    std::vector<const Scored*> part;
    for (const Scored& row : rows) {
      if (row.in_scope == in_scope) part.push_back(&row);
    }
    for (size_t i = 0; i < part.size() / 2; ++i) out.push_back(*part[rng.below(part.size())]);
  }
  return out;
}

// The laxest confidence that keeps the risk on these rows, without a margin.
double naive_threshold(std::span<const Scored> rows, double risk, double oos_share) {
  double out = 1;
  for (const RiskPoint& point : risk_coverage(rows, oos_share)) {
    if (point.risk <= risk) out = point.threshold;
  }
  return out;
}

struct Realised {
  double risk = 0, coverage = 0;
};

Realised realise(std::span<const Scored> rows, double threshold, double oos_share) {
  Realised out;
  for (const RiskPoint& point : risk_coverage(rows, oos_share)) {
    if (point.threshold < threshold) break;
    out = {point.risk, point.coverage};
  }
  return out;
}

struct Trial {
  bool certified = false;
  Realised certified_half, naive_half;  // on the half that chose nothing
  Realised certified_all, naive_all;    // chosen from rows drawn with replacement, on all
};

Trial try_once(const std::vector<Scored>& rows, const EvalRiskOptions& options, double share, uint64_t seed) {
  const RiskAim aim{options.risk, options.delta, share};
  Rng rng(seed);
  const Halves halves = split(rows, rng);
  const std::vector<Scored> drawn = redraw(rows, rng);
  const auto certified = [&](std::span<const Scored> from) { return certify(from, aim).threshold; };
  Trial out;
  const Certificate one = certify(halves.calibration, aim);
  out.certified = one.certified;
  out.certified_half = realise(halves.test, one.threshold, share);
  out.naive_half = realise(halves.test, naive_threshold(halves.calibration, options.risk, share), share);
  out.certified_all = realise(rows, certified(drawn), share);
  out.naive_all = realise(rows, naive_threshold(drawn, options.risk, share), share);
  return out;
}

void add(Figures& out, const std::string& group, const std::vector<Trial>& trials, double risk, auto&& of) {
  const auto n = static_cast<double>(trials.size());
  double violations = 0, mean_risk = 0, coverage = 0;
  for (const Trial& trial : trials) {
    const Realised& one = of(trial);
    violations += one.risk > risk ? 1 : 0;
    mean_risk += one.risk / n;
    coverage += one.coverage / n;
  }
  const Interval range = wilson(violations / n, n);
  out.emplace_back(group + ".violations", violations);
  out.emplace_back(group + ".violated", 100 * violations / n);
  out.emplace_back(group + ".violated_lo", 100 * range.lo);
  out.emplace_back(group + ".violated_hi", 100 * range.hi);
  out.emplace_back(group + ".risk", 100 * mean_risk);
  out.emplace_back(group + ".coverage", 100 * coverage);
}

// Violations that a bound as tight as can be would show on a half: the half's own sampling error is added to the bound's.
// A normal law by its tail, turned round by halving.
double expected_of_a_tight_bound(double delta) {
  const auto tail = [](double z) { return std::erfc(z / std::sqrt(2.0)) / 2; };
  double lo = -10, hi = 10;
  for (int i = 0; i < 60; ++i) (tail((lo + hi) / 2) > delta ? lo : hi) = (lo + hi) / 2;
  return 100 * tail(lo / std::sqrt(2.0));
}

Figures figures_of(const std::vector<Scored>& rows, const EvalRiskOptions& options, double share) {
  std::vector<Trial> trials(options.splits);
  parallel_for(trials.size(), [&](size_t i) { trials[i] = try_once(rows, options, share, i + 1); });
  const auto outside = std::count_if(rows.begin(), rows.end(), [](const Scored& row) { return !row.in_scope; });
  const auto certified = std::count_if(trials.begin(), trials.end(), [](const Trial& t) { return t.certified; });
  Figures out = {{"rows", static_cast<double>(rows.size())},
                 {"out_of_scope", static_cast<double>(outside)},
                 {"oos_share", share},
                 {"risk", options.risk},
                 {"delta", options.delta},
                 {"splits", static_cast<double>(trials.size())},
                 {"certified", 100 * static_cast<double>(certified) / static_cast<double>(trials.size())},
                 {"expected_of_a_tight_bound", expected_of_a_tight_bound(options.delta)}};
  add(out, "halves", trials, options.risk, [](const Trial& t) -> const Realised& { return t.certified_half; });
  add(out, "halves_naive", trials, options.risk, [](const Trial& t) -> const Realised& { return t.naive_half; });
  add(out, "redraws", trials, options.risk, [](const Trial& t) -> const Realised& { return t.certified_all; });
  add(out, "redraws_naive", trials, options.risk, [](const Trial& t) -> const Realised& { return t.naive_all; });
  return out;
}

std::string table_of(const std::vector<Summary>& figures) {
  const auto of = [&](const std::string& name) { return mean_of(figures, name); };
  std::string out = fmt::format(
      "{:g} rows of dev and test, {:g} of them out of scope, weighed to {:g} %; at most {:g} % wrong among answered, "
      "but "
      "for {:g} %\n\n{:<44}{:>11}{:>10}   95 % interval{:>11}{:>11}\n",
      of("rows"), of("out_of_scope"), 100 * of("oos_share"), 100 * of("risk"), 100 * of("delta"), "", "violations",
      "of splits", "mean risk", "coverage");
  for (const auto& [name, title] : {std::pair{"halves.", "other half, certified threshold"},
                                    {"halves_naive.", "other half, naive threshold"},
                                    {"redraws.", "whole as population, certified threshold"},
                                    {"redraws_naive.", "whole as population, naive threshold"}}) {
    const std::string p = name;
    out += fmt::format("{:<44}{:>11g}{:>9.1f}%   [{:4.1f}, {:4.1f}]{:>13.2f}{:>11.2f}\n", title, of(p + "violations"),
                       of(p + "violated"), of(p + "violated_lo"), of(p + "violated_hi"), of(p + "risk"),
                       of(p + "coverage"));
  }
  return out + fmt::format(
                   "{:.1f} % of {:g} splits certified a threshold. The other half has a sampling error of its own: a "
                   "bound as "
                   "tight as can be would show {:.1f} % there.",
                   of("certified"), of("splits"), of("expected_of_a_tight_bound"));
}

Result<std::string> evaluate(const EvalData& data, const EvalRiskOptions& options, const nn::Encoder& encoder) {
  Examples train = embed(encoder, data.train, options.files.progress);
  add_foreign(train, encoder, data.language, static_cast<uint32_t>(data.intents.size()));
  Examples none;
  none.dim = train.dim;
  const Task task{data.intents.size(), data.language};
  const Fitted fitted = fit_model(train, none, task, {1, data.oos_share, {}, options.files.progress});
  std::vector<Scored> rows;
  score(fitted.weights, embed(encoder, data.dev, options.files.progress), rows);
  score(fitted.weights, embed(encoder, data.test, options.files.progress), rows);
  const std::vector<Summary> figures = summarise({figures_of(rows, options, data.oos_share)});
  const std::string out = table_of(figures);
  return options.files.json ? out + "\n" + json_line(figures) : out;
}

}  // namespace

Result<std::string> eval_risk(const EvalRiskOptions& options, const nn::Encoder& encoder) {
  TRY(const EvalData data, read_eval_data(options.files));
  return evaluate(data, options, encoder);
}

Result<std::string> eval_risk(const EvalRiskOptions& options) {
  TRY(const EvalData data, read_eval_data(options.files));
  TRY(const auto encoder, load_encoder(options.files.encoder, options.files.models, data.language));
  return evaluate(data, options, *encoder);
}

}  // namespace hengshi::train
