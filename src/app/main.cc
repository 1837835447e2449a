// main.cc — the hengshi program: one subcommand per task.

#include <CLI/CLI.hpp>
#include <string>

#include "app/commands.h"
#include "app/version.h"

int main(int argc, char** argv) {
  CLI::App app{"hengshi: answers each question from the cheapest tier that is good enough, over the OpenAI API."};
  app.set_version_flag("--version", std::string(hengshi::app::kVersion));
  app.require_subcommand(1);
  app.footer("Start with: hengshi init, then hengshi serve. Each command has --help.");
  int exit_code = 0;
  hengshi::app::add_init(app, exit_code);
  hengshi::app::add_serve(app, exit_code);
  hengshi::app::add_check(app, exit_code);
  hengshi::app::add_train(app, exit_code);
  hengshi::app::add_artifact(app, exit_code);
  hengshi::app::add_calibrate(app, exit_code);
  hengshi::app::add_eval(app, exit_code);
  hengshi::app::add_models(app, exit_code);
  hengshi::app::add_ledger(app, exit_code);
  hengshi::app::add_keys(app, exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return exit_code;
}
