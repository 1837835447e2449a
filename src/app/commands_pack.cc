// commands_pack.cc — pack: what a person does with a pack before it is trained.

#include <fmt/format.h>

#include <memory>

#include "app/commands.h"
#include "app/complain.h"
#include "train/pack_export.h"
#include "train/pack_import.h"
#include "train/pack_lint.h"

namespace hengshi::app {

namespace {

constexpr int kFindings = 1, kBadInput = 2;

int run_lint(const train::LintOptions& options, bool json) {
  const auto report = train::lint_pack(options);
  if (!report) {
    complain(report.error());
    return kBadInput;
  }
  fmt::print("{}\n", json ? report->json() : report->table());
  return report->counts.empty() ? 0 : kFindings;
}

int run_import(const train::ImportOptions& options) {
  const auto report = train::import_pack(options);
  if (!report) return complain(report.error());
  fmt::print("{}\n", report->table());
  return 0;
}

int run_export(const train::ExportOptions& options) {
  const auto told = train::export_pack(options);
  if (!told) return complain(told.error());
  fmt::print("{}\n", *told);
  return 0;
}

void add_lint(CLI::App& pack, int& exit_code) {
  auto options = std::make_shared<train::LintOptions>();
  auto json = std::make_shared<bool>(false);
  auto* command =
      pack.add_subcommand("lint", "what is wrong with a pack, worst first; exit 0 clean, 1 findings, 2 error");
  command->add_option("pack", options->pack, "pack folder or JSONL file (docs/pack.md)")->required();
  command->add_option("--models", options->models, "folder of the encoders; without them n-grams must do")
      ->capture_default_str();
  command->add_option("--limit", options->limit, "findings shown of each kind")
      ->capture_default_str()
      ->check(CLI::Range(1, 100000));
  command->add_option("--seed", options->seed, "of the folds")->capture_default_str();
  command->add_flag("--json", *json, "one JSON document instead of a table");
  command->callback([options, json, &exit_code] { exit_code = run_lint(*options, *json); });
}

void add_import(CLI::App& pack, int& exit_code) {
  auto options = std::make_shared<train::ImportOptions>();
  auto* command =
      pack.add_subcommand("import", "a pack from Rasa YAML, CSV, FAQ tables, JSONL, Alpaca or OpenAI files");
  command->add_option("source", options->source, "a file, or a folder of Rasa's YAML files")->required();
  command->add_option("-o,--out", options->out, "the pack's folder, new; its name is the pack's")->required();
  command->add_option("--format", options->format,
                      "csv, faq, jsonl, alpaca, openai or rasa; default: told by the file");
  command->add_option("--lang", options->lang, "zh, en or other for every row; default: told row by row");
  command->add_option("--columns", options->columns,
                      "of a table: text=Question,label=Intent,answer=Answer, or numbers");
  command->callback([options, &exit_code] { exit_code = run_import(*options); });
}

void add_export(CLI::App& pack, int& exit_code) {
  auto options = std::make_shared<train::ExportOptions>();
  auto* command = pack.add_subcommand("export", "a pack as one file for other programs");
  command->add_option("pack", options->pack, "pack folder or JSONL file (docs/pack.md)")->required();
  command->add_option("--format", options->format, "jsonl, csv or rasa")->required();
  command->add_option("-o,--out", options->out, "the file to write")->required();
  command->add_option("--lang", options->lang, "zh, en or other only; Rasa's files hold one language");
  command->callback([options, &exit_code] { exit_code = run_export(*options); });
}

}  // namespace

void add_pack(CLI::App& app, int& exit_code) {
  auto* pack = app.add_subcommand("pack", "check, import and export packs");
  pack->require_subcommand(1);
  add_lint(*pack, exit_code);
  add_import(*pack, exit_code);
  add_export(*pack, exit_code);
}

}  // namespace hengshi::app
