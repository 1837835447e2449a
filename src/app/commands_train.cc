// commands_train.cc — train and eval: packs into light models, and how good they are.

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include "app/commands.h"
#include "app/complain.h"
#include "train/eval_intent.h"
#include "train/train.h"

namespace hengshi::app {

namespace {

int run_train(const train::TrainOptions& options) {
  const SystemClock clock;
  const auto report = train::train_pack(options, clock);
  if (!report) return complain(report.error());
  fmt::print("{}\n", report->table());
  return 0;
}

int run_eval_intent(const train::EvalIntentOptions& options) {
  const auto report = train::eval_intent(options);
  if (!report) return complain(report.error());
  fmt::print("{}\n", *report);
  return 0;
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
  command->add_option("--seed", options->seed, "the same seed, the same artifact")->capture_default_str();
  command->add_flag("--tune", options->tune, "tune an encoder of the pack's own: minutes instead of seconds");
  command->add_option("--base", options->base, "model folder to start from, such as one tuned before");
  add_tuning(*command, options->tuning);
  command->callback([options, &exit_code] { exit_code = run_train(*options); });
}

void add_eval(CLI::App& app, int& exit_code) {
  auto* eval = app.add_subcommand("eval", "measure quality on files of your own or public ones");
  eval->require_subcommand(1);
  auto options = std::make_shared<train::EvalIntentOptions>();
  auto* intent = eval->add_subcommand("intent", "accuracy, out-of-scope AUROC, coverage at 95 and 98 % precision, ECE");
  intent->add_option("--train", options->train, "JSONL rows {\"text\", \"label\"}; label oos is out of scope");
  intent->add_option("--pack", options->pack, "a pack instead of --train");
  intent->add_option("--dev", options->dev, "thresholds are chosen here; default: a fifth of train");
  intent->add_option("--test", options->test, "figures are realised here")->required();
  intent->add_option("--oos-dev", options->oos_dev, "more out-of-scope rows for dev");
  intent->add_option("--oos-test", options->oos_test, "for test; the same file for both: even rows dev, odd rows test");
  intent->add_option("--oos-share", options->oos_share, "share dev negatives are weighted to")
      ->capture_default_str()
      ->check(CLI::Range(0.0, 0.95));
  intent->add_option("--unknown-every", options->unknown_every, "make every N-th intent unknown");
  intent->add_option("--encoder", options->encoder, "model folder; default: by language, under --models");
  intent->add_option("--models", options->models, "folder of the encoders")->capture_default_str();
  intent->add_option("--seeds", options->seeds, "mean over this many training seeds")
      ->capture_default_str()
      ->check(CLI::Range(1, 100));
  intent->add_flag("--json", options->json, "end with one line of JSON");
  add_tuning(*intent, options->tuning);
  intent->add_flag("--frozen", options->frozen, "leave the encoder as it is: seconds instead of minutes");
  intent->callback([options, &exit_code] { exit_code = run_eval_intent(*options); });
}

}  // namespace hengshi::app
