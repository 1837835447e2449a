// config_sections.h — the tables of hengshi.toml: every key once, with its meaning.
//
// Threads: built on first use, then immutable.
#pragma once

#include <string_view>
#include <vector>

#include "app/config.h"
#include "app/schema.h"

namespace hengshi::app {

struct Sections {
  Section<ServerConfig> server;
  Section<ComputeConfig> compute;
  Section<PathsConfig> models;
  Section<PathsConfig> light;
  Section<Config> rules;
  Section<cache::Options> cache;
  Section<LedgerConfig> ledger;
  Section<LogConfig> log;
  Section<KeyConfig> key;
  Section<UpstreamConfig> upstream;
  Section<RouteConfig> route;

  static const Sections& all();
  std::vector<std::string_view> names() const;
};

}  // namespace hengshi::app
