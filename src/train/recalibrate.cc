#include "train/recalibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/digest.h"
#include "base/file.h"
#include "base/log.h"
#include "light/artifact.h"
#include "light/opinion.h"
#include "train/embed.h"
#include "train/metrics.h"
#include "train/plot.h"
#include "train/risk.h"
#include "train/risk_stream.h"
#include "train/rows.h"

namespace hengshi::train {

namespace {

constexpr uint64_t kSeed = 1;  // of the intervals' resampling
constexpr int kCurveRows = 10;

Result<std::vector<Question>> read_labels(const std::string& file, const light::Artifact& artifact) {
  std::map<std::string_view, uint32_t> known;
  const size_t intents = artifact.answers.size();
  for (size_t i = 0; i < intents; ++i) known.emplace(artifact.answers.name(i), static_cast<uint32_t>(i));
  known.emplace(kOutOfScope, static_cast<uint32_t>(intents));
  TRY(const std::vector<Row> rows, read_rows(file, OtherKeys::kIgnored));
  std::vector<Question> out;
  for (const Row& row : rows) {
    const auto at = known.find(row.label);
    if (at == known.end()) {
      return fault(
          file, row.line,
          fmt::format("'{}' is no intent of {}; write one of its {} intents, or oos for a question it must not "
                      "answer",
                      row.label, artifact.manifest.pack, intents));
    }
    out.push_back({row.text, at->second});
  }
  return out;
}

// As serving would have it: a question whose slots cannot be filled is not answered either.
std::vector<Scored> score_all(const light::Artifact& artifact, const nn::Encoder& encoder,
                              const std::vector<Question>& questions, bool progress) {
  const Examples rows = embed(encoder, questions, progress);
  std::vector<Scored> out;
  for (size_t i = 0; i < rows.size(); ++i) {
    const light::Opinion opinion = light::form_opinion(artifact.weights, rows.normalised[i], rows.embedding(i));
    const bool in_scope = rows.labels[i] < artifact.answers.size();
    const bool silent =
        !opinion.refused_because.empty() || !artifact.answers.answer(opinion.intent, questions[i].text, 0);
    out.push_back({opinion.confidence, in_scope && opinion.intent == rows.labels[i], silent, in_scope});
  }
  return out;
}

// By the text alone: a label that was mended makes no new row.
std::vector<uint64_t> keys_of(const std::vector<Question>& questions) {
  std::vector<uint64_t> out;
  out.reserve(questions.size());
  for (const Question& one : questions) out.push_back(DigestHash()(digest(one.text)));
  return out;
}

// What the state says of the rows it has seen before; empty: nothing.
std::string note_of(const RiskStream::Added& added, const std::string& state) {
  std::string out;
  if (added.again > 0) {
    out += fmt::format("{} of the rows were counted by an earlier run with {} and do not count again\n", added.again,
                       state);
  }
  if (added.alike > 0) {
    out += fmt::format("{} of the rows counted ask, word for word, what rows of earlier runs did\n", added.alike);
  }
  return out;
}

struct Counted {
  RiskStream stream;
  std::string note;
};

// The state so far with these rows added to it.
Result<Counted> add_to_state(const RecalibrateOptions& options, const light::Artifact& artifact,
                             const std::vector<Question>& questions, std::span<const Scored> rows) {
  const std::string model = sha256_hex(light::write_weights(artifact.weights)).substr(0, 12);
  RiskStream stream(model, options.risk, options.delta);
  const auto saved = read_file(options.state);
  if (saved) {
    auto restored = RiskStream::restore(*saved);
    if (!restored) {
      return fail(ErrorCode::kInvalidRequest, fmt::format("{}: {}", options.state, restored.error().message),
                  options.state);
    }
    stream = std::move(*restored);
  }
  if (stream.model() != model || stream.risk() != options.risk || stream.delta() != options.delta) {
    return fail(
        ErrorCode::kInvalidRequest,
        fmt::format("{}: its labels were scored by weights {} for risk {:g} and delta {:g}; start another file "
                    "for weights {} at {:g} and {:g}",
                    options.state, stream.model(), stream.risk(), stream.delta(), model, options.risk, options.delta),
        options.state);
  }
  const std::vector<uint64_t> keys = keys_of(questions);
  const RiskStream::Added added = stream.add(rows, keys);
  if (added.again == rows.size()) {
    return fail(ErrorCode::kInvalidRequest,
                fmt::format("{}: an earlier run with {} has counted all {} rows; give it rows that are new",
                            options.labels, options.state, rows.size()),
                options.labels);
  }
  return Counted{std::move(stream), note_of(added, options.state)};
}

struct Outcome {
  bool certified = false;
  double threshold = 1;
  size_t labels = 0, needed = 0;
  std::string how;         // certified: for the manifest; refused: why
  std::string state = {};  // to be saved last: a run that fails must not count its labels
  std::string note = {};   // on rows that the state has seen before
};

Result<Outcome> outcome_of(const RecalibrateOptions& options, const light::Artifact& artifact,
                           const std::vector<Question>& questions, std::span<const Scored> rows) {
  const RiskAim aim{options.risk, options.delta, options.oos_share};
  if (!options.state.empty()) {
    TRY(const Counted counted, add_to_state(options, artifact, questions, rows));
    const RiskStream& stream = counted.stream;
    const auto threshold = stream.threshold();
    const std::string promise = fmt::format("at most {:g} % wrong among answered, with probability {:g} %",
                                            100 * options.risk, 100 * (1 - options.delta));
    const std::string how = threshold ? fmt::format("certified by a betting e-process on {} labels one by one: {}",
                                                    stream.labels(), promise)
                                      : "the labels so far do not show " + promise;
    return Outcome{threshold.has_value(), threshold.value_or(1), stream.labels(), 0, how, stream.save(), counted.note};
  }
  const Certificate one = certify(rows, aim);
  if (one.certified) return Outcome{true, one.threshold, one.labels, 0, certified_how(one, aim, "labels")};
  const bool no_outside = options.oos_share && *options.oos_share > 0 &&
                          std::all_of(rows.begin(), rows.end(), [](const Scored& row) { return row.in_scope; });
  const std::string why = no_outside ? "an out-of-scope share is stated, but no row is labelled oos"
                          : one.needed > 0
                              ? fmt::format("too few labels; about {} would do, if they fare as these did", one.needed)
                              : "too many of the answered are wrong at every threshold";
  return Outcome{false, 1, one.labels, one.needed, why};
}

// The laxest confidence that keeps the risk on these very rows, without a margin.
double floor_of(const std::vector<RiskPoint>& curve, const Outcome& outcome, double risk) {
  double out = outcome.threshold;
  for (const RiskPoint& point : curve) {
    if (point.risk <= risk) out = std::min(out, point.threshold);
  }
  return out;
}

std::string table_row(std::string_view name, double threshold, const AtThreshold& at) {
  const std::string risk = at.coverage > 0 ? fmt::format("{:>10.2f} [{:5.2f}, {:5.2f}]", 100 - at.precision,
                                                         100 - at.precision_hi, 100 - at.precision_lo)
                                           : fmt::format("{:>10}", "-");  // there is none of no answers
  return fmt::format("{:<22}{:>10}{:>10.2f} [{:5.2f}, {:5.2f}]{}\n", name,
                     threshold < 1 ? fmt::format("{:.4f}", threshold) : "never", at.coverage, at.coverage_lo,
                     at.coverage_hi, risk);
}

std::string curve_table(const std::vector<RiskPoint>& curve) {
  std::string out = fmt::format("\n{:>10}{:>11}{:>10}   95 % interval\n", "coverage", "threshold", "risk");
  for (int k = 1; k <= kCurveRows; ++k) {
    const double wanted = static_cast<double>(k) / kCurveRows;
    const auto at = std::find_if(curve.begin(), curve.end(), [&](const RiskPoint& p) { return p.coverage >= wanted; });
    if (at == curve.end()) break;
    out += fmt::format("{:>10.1f}{:>11.4f}{:>10.2f}   [{:5.2f}, {:5.2f}]\n", 100 * at->coverage, at->threshold,
                       100 * at->risk, 100 * at->lo, 100 * at->hi);
  }
  return out;
}

Plot plot_of(const std::vector<RiskPoint>& curve, const RecalibrateOptions& options) {
  Plot out{"Risk over coverage", "answered, %", "wrong among answered, %", {{"these labels", {}}}, {},
           100 * options.risk};
  for (const RiskPoint& point : curve) {
    if (point.coverage < 0.02) continue;  // a handful of rows says nothing but how few they are
    out.lines[0].points.push_back({100 * point.coverage, 100 * point.risk});
    out.band.low.push_back({100 * point.coverage, 100 * point.lo});
    out.band.high.push_back({100 * point.coverage, 100 * point.hi});
  }
  return out;
}

class Report {
 public:
  Report(const RecalibrateOptions& options, const light::Artifact& artifact, const std::vector<Scored>& rows,
         const Outcome& outcome, const std::vector<RiskPoint>& curve)
      : options_(options), artifact_(artifact), rows_(rows), outcome_(outcome), curve_(curve) {
    now_ = at_threshold(rows, threshold_now(), kSeed, options.oos_share);
    then_ = at_threshold(rows, outcome.threshold, kSeed, options.oos_share);
    ece_ = calibration_error(rows, options.oos_share, kSeed);
    brier_ = brier(rows, options.oos_share);
    outside_ =
        static_cast<size_t>(std::count_if(rows.begin(), rows.end(), [](const Scored& r) { return !r.in_scope; }));
  }

  std::string table() const {
    std::string out = fmt::format("{} ({}, {}): {} labels, {} of them out of scope{}\n\n", artifact_.manifest.pack,
                                  text::language_name(artifact_.manifest.language), artifact_.version, rows_.size(),
                                  outside_, weighed());
    if (!outcome_.note.empty()) out += outcome_.note + "\n";
    out += fmt::format("{:<22}{:>10}{:>10}{:>16}{:>10}\n", "", "threshold", "coverage", "", "risk");
    out += table_row("now", threshold_now(), now_);
    if (outcome_.certified) out += table_row("certified", outcome_.threshold, then_);
    out += fmt::format("\nECE {:.4f} (floor {:.4f}), Brier {:.4f}\n", ece_.ece, ece_.floor, brier_);
    out += curve_table(curve_);
    return out + (outcome_.certified ? "\n" : "\nnot certified: ") + outcome_.how;
  }

  std::string json(const std::string& version) const {
    std::string out = fmt::format("{{\"certified\":{},\"labels\":{},\"labels_seen\":{},\"labels_needed\":{},",
                                  outcome_.certified, rows_.size(), outcome_.labels, outcome_.needed);
    out += fmt::format("\"risk\":{:g},\"delta\":{:g},", options_.risk, options_.delta);
    out += options_.oos_share ? fmt::format("\"oos_share\":{:g},", *options_.oos_share) : "\"oos_share\":null,";
    out += group("now", threshold_now(), now_) + ',';
    out += outcome_.certified ? group("then", outcome_.threshold, then_) : "\"then\":null";
    out += fmt::format(",\"ece\":{:.6g},\"ece_floor\":{:.6g},\"brier\":{:.6g},\"version\":\"{}\",\"how\":", ece_.ece,
                       ece_.floor, brier_, version);
    append_json_string(out, outcome_.how);
    return out + "}";
  }

 private:
  double threshold_now() const { return artifact_.manifest.threshold.value; }

  std::string weighed() const {
    return options_.oos_share ? fmt::format(", weighed to {:g} %", 100 * *options_.oos_share) : "";
  }

  static std::string group(std::string_view name, double threshold, const AtThreshold& at) {
    const auto risk = [&](double precision) {
      return at.coverage > 0 ? fmt::format("{:.6g}", 100 - precision) : "null";
    };
    return fmt::format(
        "\"{}\":{{\"threshold\":{:.6g},\"coverage\":{:.6g},\"coverage_lo\":{:.6g},\"coverage_hi\":{:.6g},"
        "\"risk\":{},\"risk_lo\":{},\"risk_hi\":{}}}",
        name, threshold, at.coverage, at.coverage_lo, at.coverage_hi, risk(at.precision), risk(at.precision_hi),
        risk(at.precision_lo));
  }

  const RecalibrateOptions& options_;
  const light::Artifact& artifact_;
  const std::vector<Scored>& rows_;
  const Outcome& outcome_;
  const std::vector<RiskPoint>& curve_;
  AtThreshold now_, then_;
  Ece ece_;
  double brier_ = 0;
  size_t outside_ = 0;
};

Result<void> check_options(const RecalibrateOptions& options) {
  if (options.state.empty() || !options.oos_share) return {};
  return fail(ErrorCode::kInvalidRequest,
              "--state and --oos-share exclude each other: labels that arrive one by one must be a fair sample of live "
              "questions",
              "oos_share");
}

Result<Recalibrated> run(const RecalibrateOptions& options, const Clock& clock, const light::Artifact& artifact,
                         const nn::Encoder& encoder) {
  const std::string& wanted = artifact.manifest.encoder_version;
  if (encoder.version() != wanted) {
    return fail(ErrorCode::kInvalidRequest,
                fmt::format("{}: trained on encoder {} {}, but {} is {}; give the right one with --encoder",
                            options.artifact, artifact.manifest.encoder, wanted, encoder.name(), encoder.version()),
                options.artifact);
  }
  TRY(const std::vector<Question> questions, read_labels(options.labels, artifact));
  const std::vector<Scored> rows = score_all(artifact, encoder, questions, options.progress);
  const std::vector<RiskPoint> curve = risk_coverage(rows, options.oos_share);
  TRY(const Outcome outcome, outcome_of(options, artifact, questions, rows));
  if (!options.plot.empty()) {
    TRY_OK(write_whole(options.plot, {svg(plot_of(curve, options))}));
  }
  const Report report(options, artifact, rows, outcome, curve);
  Recalibrated out{report.table(), outcome.certified};
  std::string version = artifact.version;
  if (options.write && outcome.certified) {
    const double floor = floor_of(curve, outcome, options.risk);
    TRY(const light::Written written,
        light::write_threshold(options.artifact, {outcome.threshold, floor, 1 - options.risk, outcome.how, true},
                               utc(clock.wall())));
    version = written.version;
    out.report += fmt::format("\n{}: {} is {} version {}", written.unchanged ? "unchanged" : "written",
                              options.artifact, written.unchanged ? "already" : "now", version);
  }
  if (!options.state.empty()) TRY_OK(write_whole(options.state, {outcome.state}));
  if (options.json) out.report += "\n" + report.json(version);
  return out;
}

}  // namespace

Result<Recalibrated> recalibrate(const RecalibrateOptions& options, const Clock& clock, const nn::Encoder& encoder) {
  TRY_OK(check_options(options));
  TRY(const light::Artifact artifact, light::read_artifact(options.artifact));
  return run(options, clock, artifact, encoder);
}

Result<Recalibrated> recalibrate(const RecalibrateOptions& options, const Clock& clock) {
  TRY_OK(check_options(options));
  TRY(const light::Artifact artifact, light::read_artifact(options.artifact));
  std::string folder = options.encoder.empty() ? options.models + "/" + artifact.manifest.encoder : options.encoder;
  if (artifact.manifest.own_encoder) {
    if (!options.encoder.empty()) {
      return fail(ErrorCode::kInvalidRequest,
                  fmt::format("{}: it has an encoder of its own; leave --encoder out", options.artifact), "encoder");
    }
    folder = options.artifact + "/encoder";
  }
  auto encoder = nn::Encoder::load(folder);
  if (!encoder) {
    return fail(encoder.error().code,
                fmt::format("{}: its encoder {} cannot be used: {}", options.artifact, artifact.manifest.encoder,
                            encoder.error().message),
                options.artifact);
  }
  return run(options, clock, artifact, **encoder);
}

}  // namespace hengshi::train
