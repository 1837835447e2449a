#include "app/serve.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>

#include <cstdio>
#include <filesystem>
#include <thread>

#include "app/build_snapshot.h"
#include "app/complain.h"
#include "app/config.h"
#include "app/secret.h"
#include "app/version.h"
#include "base/digest.h"
#include "base/file.h"
#include "gateway/worker.h"
#include "light/history.h"

namespace hengshi::app {

namespace {

constexpr timespec kWatchEvery{0, 500'000'000};

int cores() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

sigset_t handled_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  return set;
}

Result<void> write_port(const std::string& path, uint16_t port) {
  if (path.empty()) return {};
  const auto written = write_whole(path, {fmt::format("{}\n", port)});
  if (written) return {};
  return fail(written.error().code, fmt::format("[server] port_file: {}", written.error().message));
}

struct FileStamp {
  std::filesystem::file_time_type time{};
  uintmax_t size = 0;
  bool operator==(const FileStamp&) const = default;
};

FileStamp stamp_of(const std::string& path) {
  std::error_code error;
  FileStamp stamp{std::filesystem::last_write_time(path, error), std::filesystem::file_size(path, error)};
  return error ? FileStamp{} : stamp;
}

// What may change under a running server, as it was before it was read, so that no change goes unnoticed.
struct Stamps {
  FileStamp rules;
  std::array<FileStamp, text::kLanguages.size()> light;
  bool operator==(const Stamps&) const = default;
};

FileStamp stamp_of_artifact(const std::string& named) {
  const auto folder = light::artifact_folder(named);
  return folder ? stamp_of(*folder + "/manifest.json") : FileStamp{};
}

Stamps stamps_of(const Config& config) {
  Stamps out{stamp_of(config.rules_file), {}};
  for (size_t i = 0; i < out.light.size(); ++i)
    out.light.at(i) = stamp_of_artifact(config.light.of(text::kLanguages.at(i)));
  return out;
}

void log_light_models(const gateway::Snapshot& snapshot) {
  for (const gateway::LanguageParts& parts : snapshot.languages) {
    if (parts.light == nullptr) continue;
    const light::Threshold& threshold = parts.light->threshold();
    log(threshold.never() ? LogLevel::kWarn : LogLevel::kInfo, "light_model",
        {{"language", text::language_name(parts.light->language())},
         {"model", parts.light->name()},
         {"artifact", parts.light->version()},
         {"threshold", threshold.in_words()},
         {"how", threshold.how}});
  }
}

// Reloads on SIGHUP, and when the rules file or a light model changes; each takes effect whole or not at all.
class Reloader {
 public:
  // `read` are the stamps from before the snapshot in force was built.
  Reloader(Config config, Stamps read, gateway::Snapshots& snapshots, Metrics& metrics)
      : config_(std::move(config)), snapshots_(snapshots), metrics_(metrics), stamps_(read) {}

  void reload_config() {
    auto next = load_config(config_.file);
    if (!next) return refused("config", next.error());
    if (show_fixed(*next) != show_fixed(config_)) {
      const Error error{
          ErrorCode::kInvalidRequest,
          "[server], [compute], [cache] or [ledger] changed: that takes a restart. Nothing was reloaded."};
      return refused("config", error);
    }
    const auto current = snapshots_.take();
    const Stamps stamps = stamps_of(*next);
    auto snapshot = build_snapshot(*next, current.get(), metrics_);
    if (!snapshot) return refused("config", snapshot.error());
    config_ = std::move(*next);
    stamps_ = stamps;
    set_log_level(config_.log.level);
    snapshots_.swap(std::move(*snapshot));
    accepted("config");
  }

  void reload_changed_files() {
    const Stamps now = stamps_of(config_);
    if (now == stamps_) return;
    const bool rules = now.rules != stamps_.rules;
    const bool light = now.light != stamps_.light;
    stamps_ = now;
    if (rules && !config_.rules_file.empty()) swap("rules", with_rules(*snapshots_.take(), config_.rules_file));
    if (light) swap("light", with_light(*snapshots_.take(), config_));
  }

 private:
  void swap(std::string_view what, Result<gateway::SnapshotPtr> next) {
    if (!next) return refused(what, next.error());
    snapshots_.swap(std::move(*next));
    accepted(what);
  }
  void refused(std::string_view what, const Error& error) {
    log(LogLevel::kError, "reload_refused", {{"what", what}, {"why", error.message}});
    count(what, "refused");
  }
  void accepted(std::string_view what) {
    const auto snapshot = snapshots_.take();
    log(LogLevel::kInfo, "reloaded", {{"what", what}, {"versions", snapshot->versions}});
    if (what != "rules") log_light_models(*snapshot);
    count(what, "accepted");
  }
  void count(std::string_view what, std::string_view outcome) {
    metrics_
        .counter("hengshi_reloads_total", "Reloads of the config, the rules and the light models.",
                 {{"what", std::string(what)}, {"outcome", std::string(outcome)}})
        .add();
  }

  Config config_;
  gateway::Snapshots& snapshots_;
  Metrics& metrics_;
  Stamps stamps_;
};

// Until SIGTERM or SIGINT.
void watch(const sigset_t& signals, Reloader& reloader) {
  while (true) {
    const int signal = sigtimedwait(&signals, nullptr, &kWatchEvery);
    if (signal == SIGTERM || signal == SIGINT) return;
    if (signal == SIGHUP) reloader.reload_config();
    reloader.reload_changed_files();
  }
}

std::string url_of(const Config& config, uint16_t port) {
  const bool v6 = config.server.address.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", config.server.tls_cert.empty() ? "http" : "https", v6 ? "[" : "",
                     config.server.address, v6 ? "]" : "", port);
}

Result<gateway::Settings> settings_of(const Config& config) {
  gateway::Settings out{.record_text = config.ledger.record_text, .version = std::string(kVersion), .metrics_key = {}};
  TRY(const std::string key, metrics_key(config));
  if (!key.empty()) out.metrics_key = digest(key);
  return out;
}

int run(const Config& config, const sigset_t& signals) {
  SystemClock clock;
  Metrics metrics;
  const Stamps stamps = stamps_of(config);
  const auto settings = settings_of(config);
  if (!settings) return complain(settings.error());
  auto snapshot = build_snapshot(config, nullptr, metrics);
  if (!snapshot) return complain(snapshot.error());
  auto ledger = ledger::Ledger::open(config.ledger, metrics);
  if (!ledger) return complain(ledger.error());
  auto cache = cache::Cache::open(config.cache, clock, metrics);
  if (!cache) return complain(cache.error());

  gateway::Snapshots snapshots(std::move(*snapshot));
  gateway::Limits limits(clock);
  std::atomic<bool> draining = false;
  const int pool_threads = config.compute.threads > 0 ? config.compute.threads : cores();
  io::ComputePool pool(pool_threads, static_cast<size_t>(config.compute.queue));
  gateway::Shared shared{snapshots, **cache, **ledger, pool, limits, metrics, clock, *settings, draining};

  io::ServerOptions options = config.server;
  if (options.threads == 0) options.threads = cores();
  auto server = io::Server::listen(std::move(options), gateway::make_handlers(shared), metrics);
  if (!server) return complain(server.error());
  if (auto told = write_port(config.server.port_file, (*server)->port()); !told) return complain(told.error());
  log(LogLevel::kInfo, "listening",
      {{"url", url_of(config, (*server)->port())}, {"version", kVersion}, {"parts", snapshots.take()->versions}});
  log_light_models(*snapshots.take());

  std::thread serving([&] { (*server)->run(); });
  Reloader reloader(config, stamps, snapshots, metrics);
  watch(signals, reloader);
  log(LogLevel::kInfo, "draining");
  draining = true;
  (*server)->shutdown();
  serving.join();
  (*cache)->flush();
  (*ledger)->flush();
  log(LogLevel::kInfo, "stopped");
  return 0;
}

}  // namespace

int serve(const std::string& config_file) {
  const sigset_t signals = handled_signals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);  // Before any thread starts, so that all inherit it.
  signal(SIGPIPE, SIG_IGN);
  const auto config = load_config(config_file);
  if (!config) return complain(config.error());
  set_log_level(config->log.level);
  log(LogLevel::kInfo, "starting", {{"config", config_file}, {"version", kVersion}});  // Large models take their time.
  return run(*config, signals);
}

}  // namespace hengshi::app
