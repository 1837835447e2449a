// commands_artifact.cc — artifact: the versions of a light model, and the way back to an earlier one.

#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "app/commands.h"
#include "app/complain.h"
#include "light/history.h"

namespace hengshi::app {

namespace {

std::string_view made_by(const light::KeptArtifact& one) {
  if (one.tuned) return one.threshold.calibrated ? "tuned, calibrated" : "tuned";
  return one.threshold.calibrated ? "trained, calibrated" : "trained";
}

int run_list(const std::string& folder) {
  const auto all = light::list_artifacts(folder);
  if (!all) return complain(all.error());
  fmt::print("{:<14}{:<22}{:>9}{:>11}  {}\n", "version", "written", "accuracy", "threshold", "how");
  for (const auto& one : *all) {
    fmt::print("{:<14}{:<22}{:>9.2f}{:>11}  {}{}\n", one.version, one.created, one.accuracy, one.threshold.in_words(),
               made_by(one), one.in_use ? ", in use" : "");
    if (one.threshold.never()) fmt::print("{:<14}{}\n", "", one.threshold.how);
  }
  return 0;
}

int run_rollback(const std::string& folder, const std::string& version) {
  const auto restored = light::restore_artifact(folder, version);
  if (!restored) return complain(restored.error());
  fmt::print("{} holds {} again; servers that use it take it up by themselves\n", folder, *restored);
  return 0;
}

}  // namespace

void add_artifact(CLI::App& app, int& exit_code) {
  auto* group = app.add_subcommand("artifact", "the versions of a light model: list them, go back to one");
  group->require_subcommand(1);
  struct Options {
    std::string folder, version;
  };
  auto options = std::make_shared<Options>();
  auto* list = group->add_subcommand("list", "the version in use, then the earlier ones that are kept");
  list->add_option("folder", options->folder, "artifact folder, such as artifacts/demo/zh")->required();
  list->callback([options, &exit_code] { exit_code = run_list(options->folder); });
  auto* rollback = group->add_subcommand("rollback", "put an earlier version in use; the one it replaces is kept");
  rollback->add_option("folder", options->folder, "artifact folder, such as artifacts/demo/zh")->required();
  rollback->add_option("--to", options->version, "its version; default: the newest earlier one");
  rollback->callback([options, &exit_code] { exit_code = run_rollback(options->folder, options->version); });
}

}  // namespace hengshi::app
