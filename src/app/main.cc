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

std::vector<std::string_view> names_of(const std::vector<CLI::App*>& commands) {
  std::vector<std::string_view> out;
  out.reserve(commands.size());
  for (const CLI::App* command : commands) out.emplace_back(command->get_name());
  return out;
}

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
    const auto known = names_of(commands);
    const std::string_view likely = hengshi::app::nearest(argument, known);
    return fmt::format("hengshi{}: unknown command '{}'; {}: {}", group == &root ? "" : " " + group->get_name(),
                       argument, likely.empty() ? "there are" : fmt::format("did you mean '{}'? There are", likely),
                       fmt::join(known, ", "));
  }
  return {};
}

// What CLI11 complains of, behind the command as it was called ("hengshi ledger tail") and in our form.
std::string bad_call(CLI::App& root, const CLI::ParseError& error) {
  std::string called = root.get_name();
  CLI::App* command = &root;
  for (auto chosen = command->get_subcommands(); !chosen.empty(); chosen = command->get_subcommands()) {
    command = chosen.front();
    called += " " + command->get_name();
  }
  const auto below = names_of(command->get_subcommands([](CLI::App*) { return true; }));
  const std::string why =
      below.empty() ? error.what() : fmt::format("which command? There are: {}", fmt::join(below, ", "));
  return fmt::format("{}: {}; {} --help says more", called, why, called);
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app{"hengshi: answers each question from the cheapest tier that is good enough, over the OpenAI API.",
               "hengshi"};
  app.set_version_flag("--version", std::string(hengshi::app::kVersion));
  app.require_subcommand(1);
  app.footer(
      "Start with: hengshi init, then hengshi serve. Each command has --help.\n"
      "Exit codes: 0 done, 1 not done (or lint found something), 2 bad input, 3 not certified.");
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
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    std::fprintf(stderr, "%s\n", bad_call(app, error).c_str());
    return 2;
  }
  return exit_code;
} catch (const std::exception& error) {
  std::fprintf(stderr, "hengshi: %s\n", error.what());
  return 1;
}
