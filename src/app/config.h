// config.h — hengshi.toml as plain values; read once, checked whole.
//
// Units:   times std::chrono, sizes bytes, prices micro-USD per million tokens.
// Errors:  kInvalidRequest "FILE:LINE: what is wrong; the fix"; unknown keys are refused with the nearest known one.
// Threads: values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cache/cache.h"
#include "gateway/snapshot.h"
#include "io/server.h"
#include "ledger/ledger.h"
#include "upstream/upstream.h"

namespace hengshi::app {

struct ServerConfig : io::ServerOptions {
  ServerConfig() { threads = 0; }  // as many as cores
  std::string port_file;           // the port in use is written here, for those who asked for port 0
  std::string metrics_key_env;     // names the variable with the key of /metrics; empty: it asks for none
};

struct ComputeConfig {
  int threads = 0;  // 0: as many as cores
  int queue = 256;
};

struct PathsConfig {  // [models] and [light]: one folder per language
  std::string zh;
  std::string en;
  std::string other;

  std::string& of(text::Language language);
  const std::string& of(text::Language language) const { return const_cast<PathsConfig&>(*this).of(language); }
};

struct LedgerConfig : ledger::Options {
  LedgerConfig() : Options{"run/ledger.db", 90} {}
  bool record_text = false;
};

struct LogConfig {
  LogLevel level = LogLevel::kInfo;
  bool access = true;
};

struct KeyConfig : gateway::Key {
  std::string sha256;
};

struct UpstreamConfig : upstream::Options {
  std::string api_key_env;
};

struct RouteConfig {
  std::string name = "default";
  std::vector<std::string> models = {"hengshi"};
  std::vector<std::string> upstreams;
  std::vector<std::string> tiers = {"exact", "semantic", "rules", "light"};
  upstream::Times times;
  int max_question_characters = 200;
  bool ignore_system = false;
  gateway::Scope scope = gateway::Scope::kUser;
  gateway::OnExhausted on_exhausted = gateway::OnExhausted::kApology;
  gateway::Notice notice = gateway::Notice::kText;
  std::optional<double> floor;
  std::optional<double> light_threshold;
  std::optional<double> semantic_threshold;
};

struct Config {
  std::string file;  // as given; relative paths below are relative to its folder
  ServerConfig server;
  ComputeConfig compute;
  PathsConfig models;
  PathsConfig light;
  std::string rules_file;
  cache::Options cache{.directory = "run/cache"};
  LedgerConfig ledger;
  LogConfig log;
  std::vector<KeyConfig> keys;
  std::vector<UpstreamConfig> upstreams;
  std::vector<RouteConfig> routes;
};

// Why a text is no name for a key, a tenant, an upstream, a route or a model; empty when it is one.
std::string_view name_fault(std::string_view name);

Result<Config> load_config(const std::string& file);
Result<Config> parse_config(std::string_view text, const std::string& file);

// Every key with the value in force, as TOML; secrets never.
std::string show_config(const Config& config);
// The part that a running server cannot change, to tell whether a reload may go on.
std::string show_fixed(const Config& config);
// A commented hengshi.toml with every key at its default but these; also the reference in docs/config.md.
std::string commented_config(const PathsConfig& models = {}, const PathsConfig& light = {});

}  // namespace hengshi::app
