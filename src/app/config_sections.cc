#include "app/config_sections.h"

namespace hengshi::app {

namespace {

Section<ServerConfig> server_section() {
  Section<ServerConfig> s("server", false, "Where hengshi listens, and what it takes from a client.");
  s.add("address", &ServerConfig::address, "any other than loopback needs at least one [[key]]")
      .add("port", &ServerConfig::port, "0 takes any free port")
      .add("port_file", &ServerConfig::port_file, "the port in use is written to this file")
      .add("metrics_key_env", &ServerConfig::metrics_key_env,
           "environment variable with the key that /metrics asks for (docs/metrics.md); empty: it asks for none")
      .add("threads", &ServerConfig::threads, "event loops, one thread each; 0: as many as cores")
      .add_bytes("body_limit", &ServerConfig::body_limit, "larger bodies get 413")
      .add_bytes("header_limit", &ServerConfig::header_limit, "larger request heads get 431")
      .add("max_connections", &ServerConfig::max_connections, "more get 503")
      .add("header_timeout", &ServerConfig::header_timeout, "for a request's head; slower clients get 408")
      .add("body_timeout", &ServerConfig::body_timeout, "for a request's body; slower clients get 408")
      .add("idle_timeout", &ServerConfig::idle_timeout, "between requests of one connection")
      .add("write_timeout", &ServerConfig::write_timeout, "a client that does not read is cut off")
      .add("drain_timeout", &ServerConfig::drain_timeout, "SIGTERM lets live answers finish for this long")
      .add("tls_cert", &ServerConfig::tls_cert, "PEM certificate chain; with tls_key, HTTPS")
      .add("tls_key", &ServerConfig::tls_key, "PEM private key");
  return s;
}

Section<RouteConfig> route_section() {
  using gateway::Notice, gateway::OnExhausted, gateway::Scope;
  Section<RouteConfig> s("route", true, "How the models that clients name are answered.");
  s.add("name", &RouteConfig::name, "for the ledger and for rules that route")
      .add("models", &RouteConfig::models,
           "model names that take this route; an upstream's own name means that model only")
      .add("upstreams", &RouteConfig::upstreams, "names of [[upstream]], in the order they are asked");
  auto first = [](const RouteConfig& r) { return show_value(r.times.first_answer); };
  s.add_custom({"first_answer", "to the first visible token, or the whole of a local answer",
                [](const toml::node& n, RouteConfig& r) { return read_value(n, r.times.first_answer); }, first});
  auto between = [](const RouteConfig& r) { return show_value(r.times.between_tokens); };
  s.add_custom({"between_tokens", "between two tokens of an upstream's answer",
                [](const toml::node& n, RouteConfig& r) { return read_value(n, r.times.between_tokens); }, between});
  auto total = [](const RouteConfig& r) { return show_value(r.times.total); };
  s.add_custom({"total", "for the whole answer; x-hengshi-deadline-ms may shorten it",
                [](const toml::node& n, RouteConfig& r) { return read_value(n, r.times.total); }, total});
  s.add("tiers", &RouteConfig::tiers, "local tiers in use: exact, semantic, rules, light")
      .add("max_question_characters", &RouteConfig::max_question_characters, "longer questions go to an upstream")
      .add_choice("system_prompt", &RouteConfig::ignore_system, {{"keep", false}, {"ignore", true}},
                  "\"ignore\": rules and light answer although the client sent a system prompt")
      .add_choice("scope", &RouteConfig::scope, {{"user", Scope::kUser}, {"tenant", Scope::kTenant}},
                  "who shares cached answers: one user, or the whole tenant (\"tenant\")")
      .add_choice("on_exhausted", &RouteConfig::on_exhausted,
                  {{"apology", OnExhausted::kApology}, {"503", OnExhausted::kUnavailable}},
                  "when nothing can answer: an honest sentence, or \"503\" with Retry-After")
      .add_choice("notice", &RouteConfig::notice, {{"text", Notice::kText}, {"header", Notice::kHeader}},
                  "where a degraded answer says that it is one; the header always does")
      .add("floor", &RouteConfig::floor,
           "an example; default: the artifact's own. Below it no degraded light answer is given")
      .add("light_threshold", &RouteConfig::light_threshold,
           "an example; default: the artifact's own confidence threshold")
      .add("semantic_threshold", &RouteConfig::semantic_threshold,
           "an example; default: the encoder's own similarity threshold");
  return s;
}

Section<UpstreamConfig> upstream_section() {
  Section<UpstreamConfig> s("upstream", true, "An OpenAI-compatible provider and one of its models.");
  s.add("name", &UpstreamConfig::name, "for routes, metrics and the ledger")
      .add("base_url", &UpstreamConfig::base_url, "such as \"https://host/v1\"")
      .add("model", &UpstreamConfig::model, "the model's name there; clients may ask for it by this name too")
      .add("api_key_env", &UpstreamConfig::api_key_env, "environment variable that holds the key; empty: none is sent")
      .add("proxy", &UpstreamConfig::proxy, "such as \"http://proxy:3128\"; empty: as the environment says")
      .add("ca_file", &UpstreamConfig::ca_file,
           "PEM file of the authority that signs its certificate; empty: the system's")
      .add_custom({"input_price", "US dollars per million prompt tokens",
                   [](const toml::node& n, UpstreamConfig& u) { return read_price(n, u.price.input_micro_usd); },
                   [](const UpstreamConfig& u) { return show_price(u.price.input_micro_usd); }})
      .add_custom({"cached_price", "US dollars per million prompt tokens the provider had cached",
                   [](const toml::node& n, UpstreamConfig& u) { return read_price(n, u.price.cached_micro_usd); },
                   [](const UpstreamConfig& u) { return show_price(u.price.cached_micro_usd); }})
      .add_custom({"output_price", "US dollars per million completion tokens",
                   [](const toml::node& n, UpstreamConfig& u) { return read_price(n, u.price.output_micro_usd); },
                   [](const UpstreamConfig& u) { return show_price(u.price.output_micro_usd); }})
      .add("max_concurrent", &UpstreamConfig::max_concurrent, "calls at one time")
      .add("queue", &UpstreamConfig::queue_limit, "calls that may wait for a place; more are refused at once")
      .add("connect_timeout", &UpstreamConfig::connect_timeout, "for the TCP and TLS handshake");
  return s;
}

Section<KeyConfig> key_section() {
  Section<KeyConfig> s("key", true, "Who may ask. `hengshi keys add NAME` makes one.");
  s.add("name", &KeyConfig::name, "for the log and the limits")
      .add("tenant", &KeyConfig::tenant, "whose answers, limits and figures it shares")
      .add("sha256", &KeyConfig::sha256, "SHA-256 of the key, in hex; the key itself is stored nowhere")
      .add("requests_per_minute", &KeyConfig::requests_per_minute, "0: unlimited")
      .add("tokens_per_minute", &KeyConfig::tokens_per_minute, "0: unlimited")
      .add("user_header", &KeyConfig::user_header,
           "header by which a front end names the end user; without it the `user` field");
  return s;
}

Section<cache::Options> cache_section() {
  Section<cache::Options> s("cache", false, "Earlier answers: equal requests, and questions that meant the same.");
  s.add("directory", &cache::Options::directory, "where entries survive a restart; empty: memory only")
      .add_bytes("exact_bytes", &cache::Options::exact_bytes, "memory for exact entries")
      .add_bytes("semantic_bytes", &cache::Options::semantic_bytes, "memory for semantic entries")
      .add("ttl", &cache::Options::ttl, "age at which an entry is dropped");
  return s;
}

Section<LogConfig> log_section() {
  Section<LogConfig> s("log", false, "JSON lines on standard error.");
  s.add_choice("level", &LogConfig::level,
               {{"debug", LogLevel::kDebug},
                {"info", LogLevel::kInfo},
                {"warn", LogLevel::kWarn},
                {"error", LogLevel::kError},
                {"off", LogLevel::kOff}},
               "debug, info, warn, error, off")
      .add("access", &LogConfig::access, "one line per request");
  return s;
}

Section<PathsConfig> paths_section(std::string_view name, std::string_view help, std::string_view of) {
  Section<PathsConfig> s(name, false, help);
  s.add("zh", &PathsConfig::zh, of)
      .add("en", &PathsConfig::en, of)
      .add("other", &PathsConfig::other, "the same for every other language (docs/languages.md)");
  return s;
}

}  // namespace

const Sections& Sections::all() {
  static const Sections sections = [] {
    Section<ComputeConfig> compute("compute", false, "Threads that encode questions.");
    compute.add("threads", &ComputeConfig::threads, "0: as many as cores")
        .add("queue", &ComputeConfig::queue, "questions that may wait; more skip the encoder");
    Section<Config> rules("rules", false,
                          "Patterns that answer by template (docs/rules.md); reloaded when it changes.");
    rules.add("file", &Config::rules_file, "empty: no rules");
    Section<LedgerConfig> ledger("ledger", false, "One record per request (docs/ledger.md).");
    ledger.add("path", &LedgerConfig::path, "SQLite file")
        .add("keep_days", &LedgerConfig::keep_days, "older rows are deleted; 0: never")
        .add("record_text", &LedgerConfig::record_text, "also keep question and answer: personal data may be in them");
    return Sections{
        server_section(),
        std::move(compute),
        paths_section("models", "Encoders, one folder per language.", "empty: none, so no semantic cache"),
        paths_section("light",
                      "Light models, made by `hengshi train`, one folder per language; reloaded when they change.",
                      "folder, or folder@version to stay with one version; empty: no light model"),
        std::move(rules),
        cache_section(),
        std::move(ledger),
        log_section(),
        key_section(),
        upstream_section(),
        route_section()};
  }();
  return sections;
}

std::vector<std::string_view> Sections::names() const {
  return {server.name(), compute.name(), models.name(), light.name(),    rules.name(), cache.name(),
          ledger.name(), log.name(),     key.name(),    upstream.name(), route.name()};
}

}  // namespace hengshi::app
