// commands_ledger.cc — ledger tail and stats: what was answered, how, and what it cost.

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>
#include <utility>

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
  std::string path = options.path;
  if (path.empty()) {
    TRY(const Config config, load_config(options.config));
    path = config.ledger.path;
  }
  std::error_code error;
  if (std::filesystem::exists(path, error)) return path;
  return fail(ErrorCode::kNotFound,
              fmt::format("{}: there is no ledger yet; `hengshi serve` makes it when it starts", path), path);
}

// Confidence is shown of the tiers that answer by it; where they passed, the reasons hold it.
bool answers_by_confidence(std::string_view path) {
  return path == "cache.semantic" || path == "light" || path == "degraded.3";
}

// An upstream's answer costs nothing only where the config has no prices.
std::string cost_of(std::string_view path, int64_t micro_usd, std::string priced) {
  return path == "cloud" && micro_usd == 0 ? "-" : std::move(priced);
}

void print_head() {
  fmt::print("{:19} {:>4} {:14} {:>10} {:>5} {:>6} {:>8} {:12} {}\n", "time", "code", "path", "ms", "conf", "tokens",
             "cost µ$", "tenant", "model, intent, reasons");
}

void print_record(const ledger::Record& r) {
  const auto at = static_cast<std::time_t>(r.at_us / 1'000'000);
  const bool sure = r.confidence && answers_by_confidence(r.path);
  fmt::print("{:%Y-%m-%d %H:%M:%S} {:>4} {:14} {:>10.2f} {:>5} {:>6} {:>8} {:12} {} {} {}\n", fmt::localtime(at),
             r.status, r.path, static_cast<double>(r.total_us) / 1e3, sure ? fmt::format("{:.2f}", *r.confidence) : "-",
             r.prompt_tokens + r.completion_tokens, cost_of(r.path, r.cost_micro_usd, std::to_string(r.cost_micro_usd)),
             r.tenant, r.model, r.intent.empty() ? "-" : r.intent, r.reasons);
}

int tail(const LedgerOptions& options) {
  const auto path = ledger_path(options);
  if (!path) return complain(path.error());
  print_head();
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
    fmt::print(
        "{:15} {:>9} {:>6.1f}% {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>12} {:>12}\n", row.path, row.requests,
        100 * row.share, row.mean_ms, row.p50_ms, row.p95_ms, row.p99_ms,
        cost_of(row.path, row.cost_micro_usd, fmt::format("{:.6f}", static_cast<double>(row.cost_micro_usd) / 1e6)),
        row.saved_tokens);
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
