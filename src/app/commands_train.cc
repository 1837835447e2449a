// commands_train.cc — train, calibrate and eval: packs into light models, and how good they are.

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "app/commands.h"
#include "app/complain.h"
#include "train/eval_intent.h"
#include "train/eval_noise.h"
#include "train/eval_risk.h"
#include "train/recalibrate.h"
#include "train/train.h"

namespace hengshi::app {

namespace {

// What makes a server use what was trained.
void print_next(const train::TrainOptions& options, const train::TrainReport& report) {
  std::string keys;
  for (const auto& one : report.languages) {
    keys += fmt::format("{}{} = \"{}\"", keys.empty() ? "" : ", ", text::language_name(one.language), one.folder);
  }
  std::fprintf(stderr, "In hengshi.toml: [light] %s\n", keys.c_str());
  std::error_code error;
  const std::filesystem::path rules = std::filesystem::path(options.pack) / "rules.toml";
  if (!std::filesystem::exists(rules, error)) return;
  std::fprintf(stderr, "The pack's rules are not part of it: [rules] file = \"%s\"\n", rules.c_str());
}

int run_train(const train::TrainOptions& options) {
  const SystemClock clock;
  const auto report = train::train_pack(options, clock);
  if (!report) return complain(report.error());
  fmt::print("{}\n", report->table());
  std::fflush(stdout);
  print_next(options, *report);
  return 0;
}

int run_eval_intent(const train::EvalIntentOptions& options) {
  const auto report = train::eval_intent(options);
  if (!report) return complain(report.error());
  fmt::print("{}\n", *report);
  return 0;
}

constexpr int kNotCertified = 3;

int run_calibrate(const train::RecalibrateOptions& options) {
  const SystemClock clock;
  const auto done = train::recalibrate(options, clock);
  if (!done) return complain(done.error());
  fmt::print("{}\n", done->report);
  return done->certified ? 0 : kNotCertified;
}

int run_eval_risk(const train::EvalRiskOptions& options) {
  const auto report = train::eval_risk(options);
  if (!report) return complain(report.error());
  fmt::print("{}\n", *report);
  return 0;
}

int run_eval_noise(const train::EvalNoiseOptions& options) {
  const auto report = train::eval_noise(options);
  if (!report) return complain(report.error());
  fmt::print("{}\n", *report);
  return 0;
}

void add_copies(CLI::App& command, std::optional<double>& copies) {
  command
      .add_option("--copies", copies,
                  "copies with errors of each question to train on; 0: no noise; default: 3 or less")
      ->check(CLI::Range(0.0, 10.0));
}

void add_files(CLI::App& command, train::EvalIntentOptions& options) {
  command.add_option("--train", options.train, "JSONL rows {\"text\", \"label\"}; label oos is out of scope");
  command.add_option("--pack", options.pack, "a pack instead of --train");
  command.add_option("--dev", options.dev, "thresholds are chosen here; default: a fifth of train");
  command.add_option("--test", options.test, "figures are realised here")->required();
  command.add_option("--oos-dev", options.oos_dev, "more out-of-scope rows for dev");
  command.add_option("--oos-test", options.oos_test, "for test; the same file for both: even rows dev, odd rows test");
  command
      .add_option("--oos-share", options.oos_share,
                  "share that negatives are weighted to; default: 0.15, or 0 with a dev file that holds none")
      ->check(CLI::Range(0.0, 0.95));
  command.add_option("--unknown-every", options.unknown_every, "make every N-th intent unknown");
  command.add_option("--encoder", options.encoder, "model folder; default: by language, under --models");
  command.add_option("--models", options.models, "folder of the encoders")->capture_default_str();
  command.add_flag("--json", options.json, "end with one line of JSON");
}

void add_aim(CLI::App& command, double& risk, double& delta) {
  command.add_option("--risk", risk, "at most this share wrong among answered …")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 0.5));
  command.add_option("--delta", delta, "… but for this probability")
      ->capture_default_str()
      ->check(CLI::Range(0.001, 0.5));
}

void add_tuning(CLI::App& command, train::TuneSettings& settings) {
  command.add_option("--passes", settings.passes, "over the questions while the encoder is tuned; 0: by their number")
      ->capture_default_str()
      ->check(CLI::Range(0, 1000));
  command.add_option("--rate", settings.rate, "of learning, while the encoder is tuned")
      ->capture_default_str()
      ->check(CLI::Range(1e-7, 1e-1));
  command.add_option("--lora", settings.lora, "tune only a change of this rank to each matrix; 0: every weight")
      ->capture_default_str()
      ->check(CLI::Range(0, 64));
  command.add_option("--work", settings.work, "folder for checkpoints and tuned encoders")->capture_default_str();
}

void add_eval_intent(CLI::App& eval, int& exit_code) {
  auto options = std::make_shared<train::EvalIntentOptions>();
  auto* intent = eval.add_subcommand("intent", "accuracy, out-of-scope AUROC, coverage at 95 and 98 % precision, ECE");
  add_files(*intent, *options);
  intent->add_option("--seeds", options->seeds, "mean over this many training seeds")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  add_copies(*intent, options->copies);
  add_tuning(*intent, options->tuning);
  intent->add_flag("--frozen", options->frozen, "leave the encoder as it is: seconds instead of minutes");
  intent->callback([options, &exit_code] { exit_code = run_eval_intent(*options); });
}

void add_eval_noise(CLI::App& eval, int& exit_code) {
  auto options = std::make_shared<train::EvalNoiseOptions>();
  auto* noise = eval.add_subcommand("noise", "what errors in the questions cost, trained without noise and with it");
  add_files(*noise, options->data);
  noise->add_option("--seeds", options->data.seeds, "mean over this many training seeds")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  add_copies(*noise, options->data.copies);
  noise->add_option("--noise-seed", options->noise_seed, "seed of the errors in the test questions")
      ->capture_default_str();
  noise->callback([options, &exit_code] { exit_code = run_eval_noise(*options); });
}

void add_eval_risk(CLI::App& eval, int& exit_code) {
  auto options = std::make_shared<train::EvalRiskOptions>();
  auto* risk = eval.add_subcommand("risk", "how often the certified threshold is broken, over splits of dev and test");
  add_files(*risk, options->files);
  add_aim(*risk, options->risk, options->delta);
  risk->add_option("--splits", options->splits, "random halves of dev and test together")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  risk->callback([options, &exit_code] { exit_code = run_eval_risk(*options); });
}

}  // namespace

void add_train(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<train::TrainOptions>();
  auto* command = app.add_subcommand("train", "fit a pack's light models, one per language, and write their artifacts");
  command->add_option("pack", options->pack, "pack folder or JSONL file (docs/pack.md)")->required();
  command->add_option("-o,--out", options->out, "artifacts go to OUT/<pack>/<language>")->capture_default_str();
  command->add_option("--models", options->models, "folder of the encoders")->capture_default_str();
  command->add_option("--aim", options->aim, "precision wanted among answered questions")
      ->capture_default_str()
      ->check(CLI::Range(0.5, 0.999));
  command->add_option("--oos-share", options->oos_share, "share of live questions taken to be out of scope")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.95));
  add_copies(*command, options->copies);
  command->add_option("--seed", options->seed, "the same seed, the same artifact")->capture_default_str();
  command->add_flag("--force", options->force, "replace a model although the new one is worse on the pack's tests");
  command->add_flag("--tune", options->tune, "tune an encoder of the pack's own: minutes instead of seconds");
  command->add_option("--base", options->base, "model folder to start from, such as one tuned before");
  add_tuning(*command, options->tuning);
  command->callback([options, &exit_code] { exit_code = run_train(*options); });
}

void add_eval(CLI::App& app, int& exit_code) {
  auto* eval = app.add_subcommand("eval", "measure quality on files of your own or public ones");
  eval->require_subcommand(1);
  add_eval_intent(*eval, exit_code);
  add_eval_noise(*eval, exit_code);
  add_eval_risk(*eval, exit_code);
}

void add_calibrate(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<train::RecalibrateOptions>();
  auto* command =
      app.add_subcommand("calibrate", "certify a light model's threshold on labelled questions (exit 3: too few)");
  command->add_option("artifact", options->artifact, "folder of a light model")->required();
  command->add_option("--labels", options->labels, "JSONL rows {\"text\", \"label\"}; label = intent or oos")
      ->required();
  add_aim(*command, options->risk, options->delta);
  command
      ->add_option("--oos-share", options->oos_share, "out-of-scope share of live questions; default: as in the rows")
      ->check(CLI::Range(0.0, 0.95));
  command->add_option("--state", options->state, "file that labels are added to, for labels that keep coming");
  command->add_option("--encoder", options->encoder, "model folder; default: the artifact's, under --models");
  command->add_option("--models", options->models, "folder of the encoders")->capture_default_str();
  command->add_option("--plot", options->plot, "write risk over coverage as SVG");
  command->add_flag("--write", options->write, "put the certified threshold into the artifact");
  command->add_flag("--json", options->json, "end with one line of JSON");
  command->callback([options, &exit_code] { exit_code = run_calibrate(*options); });
}

}  // namespace hengshi::app
