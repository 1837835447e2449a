// main.cc — the hengshi program: one subcommand per task.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/commands.h"
#include "app/nearest.h"
#include "app/version.h"

namespace {

// CLI11 would call a misspelt command an argument too many. Empty: the commands that are named are all there.
std::string unknown_command(CLI::App& root, std::span<char* const> arguments) {
  CLI::App* group = &root;
  for (const std::string_view argument : arguments) {
    if (argument.starts_with('-')) continue;
    const auto commands = group->get_subcommands([](CLI::App*) { return true; });
    if (commands.empty()) return {};
    const auto named = [&](const CLI::App* command) { return command->get_name() == argument; };
    if (const auto next = std::find_if(commands.begin(), commands.end(), named); next != commands.end()) {
      group = *next;
      continue;
    }
    std::vector<std::string_view> known;
    known.reserve(commands.size());
    for (const CLI::App* command : commands) known.emplace_back(command->get_name());
    const std::string_view likely = hengshi::app::nearest(argument, known);
    return fmt::format("hengshi{}: unknown command '{}'; {}There are: {}.",
                       group == &root ? "" : " " + group->get_name(), argument,
                       likely.empty() ? "" : fmt::format("did you mean '{}'? ", likely), fmt::join(known, ", "));
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) try {
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
  hengshi::app::add_pack(app, exit_code);
  hengshi::app::add_models(app, exit_code);
  hengshi::app::add_ledger(app, exit_code);
  hengshi::app::add_keys(app, exit_code);
  if (const auto wrong = unknown_command(app, std::span(argv, static_cast<size_t>(argc)).subspan(1)); !wrong.empty()) {
    std::fprintf(stderr, "%s\n", wrong.c_str());
    return 2;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    const int code = app.exit(error);
    return code == 0 ? 0 : 2;
  }
  return exit_code;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hengshi: %s\n", error.what());
  return 1;
}
