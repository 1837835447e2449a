#include "train/train.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <unordered_set>

#include "light/artifact.h"
#include "light/opinion.h"
#include "train/embed.h"
#include "train/fit_model.h"
#include "train/gate.h"
#include "train/metrics.h"
#include "train/noise_copies.h"
#include "train/pack.h"
#include "train/tuning_plots.h"

namespace hengshi::train {

namespace {

// The pack's questions of one language; a phrasing written twice counts once.
std::vector<Question> questions_of(const Pack& pack, text::Language language) {
  std::vector<Question> out;
  std::unordered_set<std::string> seen;
  const auto add = [&](const std::vector<Located>& from, size_t label) {
    for (const Located& one : from) {
      if (seen.insert(text::normalise(one.text)).second) out.push_back({one.text, static_cast<uint32_t>(label)});
    }
  };
  const auto intents = intents_in(pack, language);
  for (size_t i = 0; i < intents.size(); ++i) add(intents[i]->sides.at(language).phrasings, i);
  if (const auto own = pack.negatives.find(language); own != pack.negatives.end()) add(own->second, intents.size());
  return out;
}

std::string artifact_folder(const TrainOptions& options, const Pack& pack, text::Language language) {
  return fmt::format("{}/{}/{}", options.out.empty() ? "." : options.out, pack.name, text::language_name(language));
}

// Whether an artifact can be written there, found out before minutes of training.
Result<void> check_place(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    return fail(ErrorCode::kInvalidRequest, folder + ": is a file; an artifact is a folder", folder);
  }
  const std::string beside = folder + ".try." + std::to_string(::getpid());
  fs::create_directories(beside, error);
  if (!error) fs::remove(beside, error);
  if (!error) return {};
  return fail(ErrorCode::kInvalidRequest, fmt::format("{}: nothing can be written there: {}", folder, error.message()),
              folder);
}

// The pack, once it is sure that what becomes of it can be written.
Result<Pack> read_pack_to_train(const TrainOptions& options) {
  TRY(Pack pack, read_pack(options.pack));
  if (!options.base.empty() && pack.languages.size() > 1) {
    return fail(
        ErrorCode::kInvalidRequest,
        fmt::format("{}: a base model is of one language, the pack has {}", options.base, pack.languages.size()),
        "base");
  }
  for (const auto language : pack.languages) {
    TRY_OK(check_place(artifact_folder(options, pack, language)));
    TRY_OK(read_pack_tests(pack, language));
  }
  return pack;
}

struct Trained {
  LanguageReport report;
  light::Manifest manifest;
  light::Weights weights;
  std::vector<light::IntentAnswers> answers;
};

// How the held-out rows fare, as they were weighted for the threshold.
void add_figures(const Fitted& fitted, LanguageReport& report) {
  std::vector<Scored> rows;
  double answered = 0, right = 0, all = 0;
  report.threshold = fitted.thresholds.front();
  for (size_t i = 0; i < fitted.held_out.size(); ++i) {
    const Judged& row = fitted.held_out[i];
    rows.push_back({fitted.held_out_confidence[i], row.right, row.refused, row.in_scope,
                    light::surely_outside(fitted.held_out_scope[i]), fitted.held_out_scope[i]});
    all += row.weight;
    if (row.refused || fitted.held_out_confidence[i] < report.threshold.value || report.threshold.never()) continue;
    answered += row.weight;
    right += row.right ? row.weight : 0;
  }
  report.accuracy = accuracy(rows);
  report.oos_auroc = oos_auroc(rows);
  if (answered > 0) report.precision = 100 * right / answered;
  report.coverage = all > 0 ? 100 * answered / all : 0;
}

std::vector<std::pair<std::string, double>> metrics_of(const LanguageReport& report) {
  std::vector<std::pair<std::string, double>> out = {{"accuracy", report.accuracy}, {"oos_auroc", report.oos_auroc}};
  if (report.precision) out.emplace_back("precision", *report.precision);
  out.insert(out.end(), {{"coverage", report.coverage},
                         {"intents", static_cast<double>(report.intents)},
                         {"phrasings", static_cast<double>(report.phrasings)},
                         {"negatives", static_cast<double>(report.negatives)}});
  return out;
}

std::string work_folder(const TrainOptions& options, const Pack& pack, text::Language language) {
  return fmt::format("{}/{}/{}", options.tuning.work, pack.name, text::language_name(language));
}

// Only once the artifact is written: until then an interrupted run goes on from there. The folders above go when empty.
void clear_work_of(const TrainOptions& options, const Pack& pack, text::Language language) {
  clear_work(work_folder(options, pack, language));
  std::error_code ignored;
  for (const std::string& above : {options.tuning.work + "/" + pack.name, options.tuning.work}) {
    std::filesystem::remove(above, ignored);
  }
}

// Heads, judge and, where it is wanted, an encoder of their own.
Result<TunedFit> fit(const Examples& rows, const Task& task, const FitOptions& fit, const std::string& work,
                     const TrainOptions& options) {
  Examples none;
  none.dim = rows.dim;
  if (!options.tune) return TunedFit{fit_model(rows, none, task, fit), nullptr, {}, {}};
  TuneSettings settings = options.tuning;
  settings.base = encoder_folder(options.base, options.models, task.language);
  settings.work = work;
  return fit_tuned_model(rows, none, task, fit, settings);
}

Result<Trained> train_language(const Pack& pack, text::Language language, const nn::Encoder& encoder,
                               const TrainOptions& options, const Clock& clock) {
  const Monotonic start = clock.monotonic();
  Trained out;
  LanguageReport& report = out.report;
  const std::vector<Question> questions = questions_of(pack, language);
  const Task task{intents_in(pack, language).size(), language};
  const auto out_of_scope = static_cast<uint32_t>(task.intents);
  Examples rows = embed(encoder, questions, options.progress);
  report.negatives = static_cast<size_t>(std::count(rows.labels.begin(), rows.labels.end(), out_of_scope));
  report.phrasings = rows.size() - report.negatives;
  add_foreign(rows, encoder, language, out_of_scope);
  const std::optional<Noise> noise = options.copies.value_or(1) > 0 ? noise_of(language) : std::nullopt;
  if (noise) {
    add_copies(rows, encoder, *noise, copies_per_row(options.copies, rows.size()), options.seed, options.progress);
  }
  const FitOptions fit_options{
      options.seed, options.oos_share, {options.aim}, options.progress, noise ? &*noise : nullptr};
  TRY(TunedFit done, fit(rows, task, fit_options, work_folder(options, pack, language), options));
  if (options.tune) TRY_OK(write_plots(done, done.folder));
  Fitted& fitted = done.fitted;
  const nn::Encoder& own = done.encoder ? *done.encoder : encoder;
  report.encoder_folder = done.folder;
  add_figures(fitted, report);
  report.language = language;
  report.folder = artifact_folder(options, pack, language);
  report.encoder = own.name();
  report.intents = task.intents;
  out.answers = answers_in(pack, language);
  out.weights = std::move(fitted.weights);
  out.manifest = {pack.name,   language,     own.name(),       own.version(),     utc(clock.wall()),
                  pack.digest, options.seed, report.threshold, metrics_of(report)};
  report.seconds = std::chrono::duration<double>(clock.monotonic() - start).count();
  return out;
}

// Written aside, so that it is asked just as serving will ask it.
Result<void> pass_gate(const Pack& pack, Trained& fresh, const nn::Encoder& encoder, bool force) {
  const std::string& folder = fresh.report.folder;
  TRY(const auto tests, read_pack_tests(pack, fresh.report.language));
  const auto before = light::Model::load(folder);
  if (tests.empty() || !before) return {};
  if (!(*before)->has_own_encoder() && (*before)->encoder_version() != encoder.version()) {
    fresh.report.compared = fmt::format("{}: not compared with the model in use, which reads encoder {}\n", folder,
                                        (*before)->encoder_version());
    return {};
  }
  const std::string aside = folder + ".candidate";
  const auto remove = [&] {
    std::error_code ignored;
    std::filesystem::remove_all(aside, ignored);
  };
  remove();  // of a run that was killed
  TRY_OK(light::write_artifact(aside, fresh.manifest, fresh.weights, fresh.answers, fresh.report.encoder_folder));
  const auto after = light::Model::load(aside);
  if (!after) {
    remove();
    return tl::unexpected(after.error());
  }
  if ((*after)->version() == (*before)->version()) {  // nothing to compare: one model, asked twice
    remove();
    return {};
  }
  const Gate gate = compare_on_tests({**before, light::artifact_bytes(folder)}, {**after, light::artifact_bytes(aside)},
                                     encoder, tests);
  remove();
  fresh.report.compared = gate.table();
  if (gate.worse.empty() || force) return {};
  return fail(
      ErrorCode::kInvalidRequest,
      fmt::format("{}: the new model is worse on the pack's tests: {}. The one in use stays; --force replaces it\n{}",
                  folder, fmt::join(gate.worse, "; "), gate.table()),
      folder);
}

}  // namespace

std::string TrainReport::table() const {
  std::string out = fmt::format("{}\n{:<6}{:>9}{:>11}{:>11}{:>11}{:>9}{:>11}{:>11}{:>11}{:>8}{:>9}  {}\n", pack, "",
                                "intents", "phrasings", "negatives", "accuracy", "AUROC", "threshold", "precision",
                                "coverage", "MB", "seconds", "artifact");
  for (const LanguageReport& one : languages) {
    out += fmt::format(
        "{:<6}{:>9}{:>11}{:>11}{:>11.2f}{:>9.2f}{:>11}{:>11}{:>11.2f}{:>8.2f}{:>9.1f}  {} ({}{})\n",
        text::language_name(one.language), one.intents, one.phrasings, one.negatives, one.accuracy, one.oos_auroc,
        one.threshold.in_words(), one.precision ? fmt::format("{:.2f}", *one.precision) : "-", one.coverage,
        static_cast<double>(one.bytes) / 1e6, one.seconds, one.folder, one.version, one.unchanged ? ", unchanged" : "");
  }
  for (const LanguageReport& one : languages) {
    if (one.threshold.never()) out += fmt::format("{}: {}\n", one.folder, one.threshold.how);
    out += one.compared;
  }
  return out + "accuracy, AUROC, precision and coverage on held-out folds";
}

Result<TrainReport> train_pack(const TrainOptions& options, const Clock& clock,
                               const std::vector<const nn::Encoder*>& encoders) {
  TRY(const Pack pack, read_pack_to_train(options));
  if (encoders.size() != pack.languages.size()) {
    return fail(ErrorCode::kInvalidRequest,
                fmt::format("{}: {} languages but {} encoders", options.pack, pack.languages.size(), encoders.size()),
                options.pack);
  }
  std::vector<Trained> trained;
  for (size_t i = 0; i < encoders.size(); ++i) {
    TRY(trained.emplace_back(), train_language(pack, pack.languages[i], *encoders[i], options, clock));
  }
  for (size_t i = 0; i < trained.size(); ++i) TRY_OK(pass_gate(pack, trained[i], *encoders[i], options.force));
  TrainReport report{pack.name, {}};
  for (Trained& one : trained) {
    TRY(const light::Written written,
        light::write_artifact(one.report.folder, one.manifest, one.weights, one.answers, one.report.encoder_folder));
    one.report.version = written.version;
    one.report.unchanged = written.unchanged;
    one.report.bytes = light::artifact_bytes(one.report.folder);
    if (options.tune) clear_work_of(options, pack, one.report.language);
    report.languages.push_back(std::move(one.report));
  }
  return report;
}

Result<TrainReport> train_pack(const TrainOptions& options, const Clock& clock) {
  TRY(const Pack pack, read_pack_to_train(options));
  std::vector<std::unique_ptr<const nn::Encoder>> owned;
  std::vector<const nn::Encoder*> encoders;
  for (const text::Language language : pack.languages) {
    TRY(owned.emplace_back(), load_encoder(options.base, options.models, language));
    encoders.push_back(owned.back().get());
  }
  return train_pack(options, clock, encoders);
}

}  // namespace hengshi::train
