// commands.h — the commands of the CLI that are not serve: each prints to stdout and answers its exit code.
//
// Errors:  one line on stderr; exit 1 for a failure, 2 for bad input or a bad config; `calibrate` exits 3 for
//          too few labels.
#pragma once

#include <CLI/CLI.hpp>

namespace hengshi::app {

// Each adds its subcommand and sets `exit_code` when it runs.
void add_init(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_check(CLI::App& app, int& exit_code);
void add_train(CLI::App& app, int& exit_code);
void add_artifact(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_eval(CLI::App& app, int& exit_code);
void add_pack(CLI::App& app, int& exit_code);
void add_models(CLI::App& app, int& exit_code);
void add_ledger(CLI::App& app, int& exit_code);
void add_keys(CLI::App& app, int& exit_code);

}  // namespace hengshi::app
