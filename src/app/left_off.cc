#include "app/left_off.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace hengshi::app {

namespace {

bool used(const Config& config, std::string_view tier) {
  return std::any_of(config.routes.begin(), config.routes.end(), [&](const RouteConfig& route) {
    return std::find(route.tiers.begin(), route.tiers.end(), tier) != route.tiers.end();
  });
}

struct Missing {
  std::string languages;  // "zh, en"; empty: none
  std::string keys;       // what to write for each
};

Missing missing(const PathsConfig& paths, std::string_view zh, std::string_view en) {
  Missing out;
  for (const auto& [language, path, example] : {std::tuple("zh", &paths.zh, zh), std::tuple("en", &paths.en, en)}) {
    if (!path->empty()) continue;
    const std::string_view comma = out.languages.empty() ? "" : ", ";
    out.languages += fmt::format("{}{}", comma, language);
    out.keys += fmt::format("{}{} = \"{}\"", comma, language, example);
  }
  return out;
}

}  // namespace

std::vector<std::string> left_off(const Config& config) {
  std::vector<std::string> out;
  const auto in_use = [&](std::string_view tier) {
    if (used(config, tier)) return true;
    out.push_back(fmt::format("{}: no [[route]] has \"{}\" in its tiers", tier, tier));
    return false;
  };
  (void)in_use("exact");
  if (in_use("rules") && config.rules_file.empty()) {
    out.emplace_back("rules: write [rules] file = \"my-pack/rules.toml\" (docs/rules.md)");
  }
  if (in_use("semantic")) {
    const Missing encoders = missing(config.models, "models/bge-small-zh-v1.5", "models/all-minilm-l6-v2");
    if (!encoders.languages.empty()) {
      out.push_back(fmt::format("semantic ({}): no encoder; scripts/setup puts them into models/, then [models] {}",
                                encoders.languages, encoders.keys));
    }
  }
  if (in_use("light")) {
    const Missing light = missing(config.light, "artifacts/PACK/zh", "artifacts/PACK/en");
    if (!light.languages.empty()) {
      out.push_back(fmt::format("light ({}): no light model; `hengshi train PACK` makes it, then [light] {}",
                                light.languages, light.keys));
    }
  }
  if (config.upstreams.empty()) {
    out.emplace_back("upstreams: no [[upstream]]; what the tiers above do not answer gets an apology");
  }
  return out;
}

}  // namespace hengshi::app
