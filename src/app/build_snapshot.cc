#include "app/build_snapshot.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "app/secret.h"
#include "base/file.h"
#include "light/history.h"
#include "nn/embedding_cache.h"

namespace hengshi::app {

namespace {

using gateway::LanguageParts;
using gateway::Route;
using gateway::Snapshot;

// A kept upstream keeps its places and its connections.
std::shared_ptr<upstream::Upstream> find_same(const Snapshot* previous, const upstream::Options& options) {
  if (previous == nullptr) return nullptr;
  for (const auto& route : previous->routes) {
    for (const auto& one : route->chain) {
      if (one->options() == options) return one;
    }
  }
  for (const auto& [model, route] : previous->by_model) {
    for (const auto& one : route->chain) {
      if (one->options() == options) return one;
    }
  }
  return nullptr;
}

Result<void> check_ca_file(const UpstreamConfig& config) {
  if (config.ca_file.empty()) return {};
  const auto text = read_file(config.ca_file);
  const std::string why = text ? config.ca_file + ": holds no PEM certificate" : text.error().message;
  if (text && text->find("-----BEGIN CERTIFICATE-----") != std::string::npos) return {};
  return fail(ErrorCode::kInvalidRequest, fmt::format("[[upstream]] '{}': ca_file: {}", config.name, why),
              "upstream.ca_file");
}

Result<upstream::Options> with_key(const UpstreamConfig& config) {
  TRY_OK(check_ca_file(config));
  upstream::Options options = config;
  if (config.api_key_env.empty()) return options;
  TRY(options.api_key,
      read_secret(config.api_key_env, fmt::format("[[upstream]] '{}'", config.name), "upstream.api_key_env"));
  return options;
}

using Upstreams = std::map<std::string, std::shared_ptr<upstream::Upstream>>;

Result<Upstreams> build_upstreams(const Config& config, const Snapshot* previous, Metrics& metrics) {
  Upstreams out;
  for (const auto& one : config.upstreams) {
    TRY(upstream::Options options, with_key(one));
    auto kept = find_same(previous, options);
    out[one.name] = kept != nullptr ? kept : std::make_shared<upstream::Upstream>(std::move(options), metrics);
  }
  return out;
}

bool uses(const RouteConfig& config, std::string_view tier) {
  return std::find(config.tiers.begin(), config.tiers.end(), tier) != config.tiers.end();
}

bool concrete(const Config& config, const RouteConfig& route) {
  return std::all_of(route.models.begin(), route.models.end(), [&](const auto& model) {
    return std::any_of(config.upstreams.begin(), config.upstreams.end(),
                       [&](const auto& up) { return up.model == model; });
  });
}

std::shared_ptr<const Route> build_route(const Config& config, const RouteConfig& from, const Upstreams& upstreams) {
  auto route = std::make_shared<Route>();
  route->name = from.name;
  route->models = from.models;
  for (const auto& name : from.upstreams) route->chain.push_back(upstreams.at(name));
  route->times = from.times;
  route->policy = {.exact = uses(from, "exact"),
                   .semantic = uses(from, "semantic"),
                   .rules = uses(from, "rules"),
                   .light = uses(from, "light"),
                   .ignore_system = from.ignore_system,
                   .max_local_characters = static_cast<size_t>(from.max_question_characters)};
  route->scope = from.scope;
  route->on_exhausted = from.on_exhausted;
  route->notice = from.notice;
  route->floor = from.floor;
  route->light_threshold = from.light_threshold;
  route->semantic_threshold = from.semantic_threshold;
  route->concrete = concrete(config, from) && !route->chain.empty();
  return route;
}

// An upstream's own model name, unless a [[route]] claims it: that model, no local tier.
std::shared_ptr<const Route> own_route(const UpstreamConfig& config, const Upstreams& upstreams) {
  auto route = std::make_shared<Route>();
  route->name = config.name;
  route->models = {config.model};
  route->chain = {upstreams.at(config.name)};
  route->policy = {.exact = false, .semantic = false, .rules = false, .light = false};
  route->concrete = true;
  return route;
}

Result<std::shared_ptr<const nn::Encoder>> load_encoder(const std::string& folder, std::string_view key) {
  if (folder.empty()) return nullptr;
  auto encoder = nn::Encoder::load(folder);
  if (!encoder) {
    encoder.error().message = fmt::format("[models] {}: {}", key, encoder.error().message);
    return tl::unexpected(std::move(encoder.error()));
  }
  return std::shared_ptr<const nn::Encoder>(nn::with_embedding_cache(std::move(*encoder)));
}

// Where the weights came from and when they were written: the same again need not be loaded again.
std::string source_of(const std::string& folder) {
  std::error_code error;
  const auto time = std::filesystem::last_write_time(folder + "/model.safetensors", error);
  return fmt::format("{} {}", folder, error ? 0 : time.time_since_epoch().count());
}

Result<LanguageParts> build_language(const Config& config, text::Language language, const LanguageParts* previous) {
  const std::string& models = config.models.of(language);
  const std::string& light = config.light.of(language);
  const std::string_view key = text::language_name(language);
  LanguageParts parts;
  parts.encoder_source = source_of(models);
  if (previous != nullptr && previous->encoder_source == parts.encoder_source) {
    parts.encoder = previous->encoder;
  } else {
    TRY(parts.encoder, load_encoder(models, key));
  }
  if (light.empty()) return parts;
  const auto bad = [&](std::string why) {
    return fail(ErrorCode::kInvalidRequest, fmt::format("[light] {}: {}", key, why), fmt::format("light.{}", key));
  };
  if (parts.encoder == nullptr) return bad(fmt::format("needs an encoder: set [models] {}", key));
  auto folder = light::artifact_folder(light);
  if (!folder) return bad(folder.error().message);
  auto model = light::Model::load(*folder);
  if (!model) return bad(model.error().message);
  if ((*model)->language() != language) {
    return bad(fmt::format("{} is a model for '{}'", light, text::language_name((*model)->language())));
  }
  if (!(*model)->has_own_encoder() && (*model)->encoder_version() != parts.encoder->version()) {
    return bad(fmt::format("{} was trained on encoder {}, [models] {} is {}: train it again with `hengshi train`",
                           light, (*model)->encoder_version(), key, parts.encoder->version()));
  }
  parts.light = std::move(*model);
  return parts;
}

Result<void> build_languages(Snapshot& into, const Config& config, const Snapshot* previous) {
  for (const text::Language language : text::kLanguages) {
    const LanguageParts* known = previous != nullptr ? &previous->own(language) : nullptr;
    TRY(into.own(language), build_language(config, language, known));
  }
  return {};
}

Result<void> check_rule_routes(const Snapshot& snapshot, const rules::RuleSet& rules, const std::string& file) {
  for (const auto& name : rules.routes()) {
    const bool known = std::any_of(snapshot.routes.begin(), snapshot.routes.end(),
                                   [&](const auto& route) { return route->name == name; });
    if (!known) {
      return fail(ErrorCode::kInvalidRequest,
                  fmt::format("{}: a rule takes the route '{}', but no [[route]] is named so", file, name), "rules");
    }
  }
  return {};
}

std::string versions_of(const Snapshot& s) {
  std::string out = "rules=" + (s.rules != nullptr ? s.rules->version() : std::string("-"));
  for (const text::Language language : text::kLanguages) {
    const LanguageParts& parts = s.own(language);
    const std::string_view name = text::language_name(language);
    if (parts.encoder != nullptr) out += fmt::format(" encoder.{}={}", name, parts.encoder->version());
    if (parts.light != nullptr) out += fmt::format(" light.{}={}", name, parts.light->version());
  }
  return out;
}

}  // namespace

Result<gateway::SnapshotPtr> build_snapshot(const Config& config, const Snapshot* previous, Metrics& metrics) {
  auto snapshot = std::make_shared<Snapshot>();
  TRY(const Upstreams upstreams, build_upstreams(config, previous, metrics));
  for (const auto& from : config.routes) {
    auto route = build_route(config, from, upstreams);
    for (const auto& model : route->models) snapshot->by_model.emplace(model, route);
    snapshot->routes.push_back(std::move(route));
  }
  for (const auto& one : config.upstreams) snapshot->by_model.try_emplace(one.model, own_route(one, upstreams));
  for (const auto& key : config.keys) snapshot->keys.add(key.sha256, key);
  if (!config.rules_file.empty()) {
    TRY(auto rules, rules::RuleSet::load(config.rules_file));
    TRY_OK(check_rule_routes(*snapshot, *rules, config.rules_file));
    snapshot->rules = std::move(rules);
  }
  TRY_OK(build_languages(*snapshot, config, previous));
  snapshot->access_log = config.log.access;
  snapshot->versions = versions_of(*snapshot);
  snapshot->created_s =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  return snapshot;
}

Result<gateway::SnapshotPtr> with_light(const Snapshot& snapshot, const Config& config) {
  auto next = std::make_shared<Snapshot>(snapshot);
  TRY_OK(build_languages(*next, config, &snapshot));
  next->versions = versions_of(*next);
  return next;
}

Result<gateway::SnapshotPtr> with_rules(const Snapshot& snapshot, const std::string& rules_file) {
  TRY(auto rules, rules::RuleSet::load(rules_file));
  TRY_OK(check_rule_routes(snapshot, *rules, rules_file));
  auto next = std::make_shared<Snapshot>(snapshot);
  next->rules = std::move(rules);
  next->versions = versions_of(*next);
  return next;
}

}  // namespace hengshi::app
