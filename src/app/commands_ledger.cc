// commands_ledger.cc — ledger tail and stats: what was answered, how, and what it cost.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include "app/commands.h"
#include "app/complain.h"
#include "app/config.h"
#include "ledger/ledger.h"

namespace hengshi::app {

namespace {

struct LedgerOptions {
  std::string config = "hengshi.toml";
  std::string path;  // overrides the config's
  int limit = 20;
  bool follow = false;
  int64_t window_s = 86'400;
};

Result<std::string> ledger_path(const LedgerOptions& options) {
  if (!options.path.empty()) return options.path;
  TRY(const Config config, load_config(options.config));
  return config.ledger.path;
}

void print_record(const ledger::Record& r) {
  const auto at = static_cast<std::time_t>(r.at_us / 1'000'000);
  fmt::print("{:%Y-%m-%d %H:%M:%S} {:3} {:14} {:>9.2f} ms {:>5} {:>5} tok {:>7} µ$ {:12} {} {} {}\n",
             fmt::localtime(at), r.status, r.path, static_cast<double>(r.total_us) / 1e3,
             r.confidence ? fmt::format("{:.2f}", *r.confidence) : "-", r.prompt_tokens + r.completion_tokens,
             r.cost_micro_usd, r.tenant, r.model, r.intent, r.reasons);
}

int tail(const LedgerOptions& options) {
  const auto path = ledger_path(options);
  if (!path) return complain(path.error());
  int64_t after = 0;
  while (true) {
    const auto seen = ledger::tail(*path, after, options.limit);
    if (!seen) return complain(seen.error());
    for (const auto& record : seen->records) print_record(record);
    std::fflush(stdout);
    if (!options.follow) return 0;
    after = seen->last_row;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
}

int stats(const LedgerOptions& options) {
  const auto path = ledger_path(options);
  if (!path) return complain(path.error());
  const auto rows = ledger::stats(*path, std::chrono::seconds(options.window_s));
  if (!rows) return complain(rows.error());
  fmt::print("{:15} {:>9} {:>7} {:>10} {:>10} {:>10} {:>10} {:>12} {:>12}\n", "path", "requests", "share", "mean ms",
             "p50 ms", "p95 ms", "p99 ms", "cost $", "saved tokens");
  for (const auto& row : *rows) {
    fmt::print("{:15} {:>9} {:>6.1f}% {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>12.6f} {:>12}\n", row.path,
               row.requests, 100 * row.share, row.mean_ms, row.p50_ms, row.p95_ms, row.p99_ms,
               static_cast<double>(row.cost_micro_usd) / 1e6, row.saved_tokens);
  }
  return 0;
}

void add_common(CLI::App* command, LedgerOptions& options) {
  command->add_option("-c,--config", options.config, "the config file")->capture_default_str();
  command->add_option("--path", options.path, "the ledger file; default: the config's");
}

}  // namespace

void add_ledger(CLI::App& app, int& exit_code) {
  auto options = std::make_shared<LedgerOptions>();
  auto* command = app.add_subcommand("ledger", "look at the record of answers");
  command->require_subcommand(1);
  auto* tail_command = command->add_subcommand("tail", "the last answers, one line each");
  add_common(tail_command, *options);
  tail_command->add_option("-n,--limit", options->limit, "how many")->capture_default_str()->check(CLI::PositiveNumber);
  tail_command->add_flag("-f,--follow", options->follow, "go on as new ones come");
  tail_command->callback([options, &exit_code] { exit_code = tail(*options); });
  auto* stats_command = command->add_subcommand("stats", "share, latency and cost by path");
  add_common(stats_command, *options);
  stats_command->add_option("--window", options->window_s, "seconds back from now")->capture_default_str();
  stats_command->callback([options, &exit_code] { exit_code = stats(*options); });
}

}  // namespace hengshi::app
