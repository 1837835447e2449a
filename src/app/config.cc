#include "app/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>

#include "app/config_sections.h"
#include "app/nearest.h"
#include "base/file.h"
#include "base/toml_words.h"
#include "text/text.h"

namespace hengshi::app {

namespace {

tl::unexpected<Error> at(const std::string& file, const toml::source_region& where, std::string why,
                         std::string_view key = {}) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("{}:{}: {}", file, where.begin.line, why), std::string(key));
}

std::string unknown(std::string_view what, std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view likely = nearest(name, known);
  if (likely.empty()) return fmt::format("unknown {} '{}'; docs/config.md lists those there are", what, name);
  return fmt::format("unknown {} '{}'; did you mean '{}'?", what, name, likely);
}

template <typename S>
Result<void> read_table(const Section<S>& section, const toml::table& table, S& out, const std::string& file) {
  for (const auto& [key, node] : table) {
    const auto& fields = section.fields();
    const auto field = std::find_if(fields.begin(), fields.end(), [&](const auto& f) { return f.key == key.str(); });
    const std::string name = fmt::format("{}.{}", section.name(), key.str());
    if (field == fields.end()) {
      std::vector<std::string_view> known;
      known.reserve(fields.size());
      for (const auto& f : fields) known.push_back(f.key);
      return at(file, key.source(), fmt::format("[{}] {}", section.name(), unknown("key", key.str(), known)), name);
    }
    if (std::string why = field->read(node, out); !why.empty()) {
      return at(file, node.source(), fmt::format("[{}] {} {}", section.name(), key.str(), why), name);
    }
  }
  return {};
}

template <typename S>
Result<void> read_one(const Section<S>& section, const toml::table& root, S& out, const std::string& file) {
  const toml::node* node = root.get(section.name());
  if (node == nullptr) return {};
  if (!node->is_table()) return at(file, node->source(), fmt::format("write it as [{}]", section.name()));
  return read_table(section, *node->as_table(), out, file);
}

template <typename S>
Result<void> read_many(const Section<S>& section, const toml::table& root, std::vector<S>& out,
                       const std::string& file) {
  const toml::node* node = root.get(section.name());
  if (node == nullptr) return {};
  if (!node->is_array_of_tables()) return at(file, node->source(), fmt::format("write it as [[{}]]", section.name()));
  for (const auto& item : *node->as_array()) {
    S one;
    TRY_OK(read_table(section, *item.as_table(), one, file));
    out.push_back(std::move(one));
  }
  return {};
}

Result<toml::table> parse_toml(std::string_view text, const std::string& file) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    return at(file, error.source(), toml_words(error.description(), text, error.source().begin.line));
  }
}

void resolve(std::string& path, const std::filesystem::path& folder) {
  if (!path.empty() && std::filesystem::path(path).is_relative()) path = (folder / path).lexically_normal().string();
}

void resolve_paths(Config& config) {
  const auto folder = std::filesystem::path(config.file).parent_path();
  for (std::string* path :
       {&config.server.port_file, &config.server.tls_cert, &config.server.tls_key, &config.models.zh, &config.models.en,
        &config.models.other, &config.light.zh, &config.light.en, &config.light.other, &config.rules_file,
        &config.cache.directory, &config.ledger.path}) {
    resolve(*path, folder);
  }
  for (auto& up : config.upstreams) resolve(up.ca_file, folder);
}

bool loopback(const std::string& address) {
  return address.starts_with("127.") || address == "::1" || address == "localhost";
}

Result<void> check_server(const Config& config) {
  const auto bad = [&](std::string_view key, std::string why) {
    return fail(ErrorCode::kInvalidRequest, fmt::format("{}: [server] {}", config.file, why), std::string(key));
  };
  if (config.server.tls_cert.empty() != config.server.tls_key.empty()) {
    return bad("server.tls_cert", "tls_cert and tls_key go together: give both or none");
  }
  if (!loopback(config.server.address) && config.keys.empty()) {
    return bad("server.address",
               fmt::format("address {} is not loopback and there are no keys: anyone could use your upstreams. Add one "
                           "with `hengshi keys add NAME --config {}`",
                           config.server.address, config.file));
  }
  return {};
}

Result<void> check_name(const Config& config, std::string_view key, std::string_view name) {
  const std::string_view why = name_fault(name);
  if (why.empty()) return {};
  return fail(ErrorCode::kInvalidRequest, fmt::format("{}: {}: {}", config.file, key, why), std::string(key));
}

Result<void> check_keys(const Config& config) {
  std::set<std::string> names;
  std::set<std::string> hashes;
  for (const auto& key : config.keys) {
    TRY_OK(check_name(config, "[[key]] name", key.name));
    TRY_OK(check_name(config, "[[key]] tenant", key.tenant));
    const bool hex = key.sha256.size() == 64 && key.sha256.find_first_not_of("0123456789abcdef") == std::string::npos;
    if (!hex || !names.insert(key.name).second || !hashes.insert(key.sha256).second) {
      return fail(ErrorCode::kInvalidRequest,
                  fmt::format("{}: [[key]] '{}': {}", config.file, key.name,
                              hex ? "name or sha256 is there twice"
                                  : "sha256 must be 64 lower-case hex digits; `hengshi keys add` makes them"),
                  "key.sha256");
    }
  }
  return {};
}

Result<void> check_upstreams(const Config& config) {
  std::set<std::string> names;
  for (const auto& up : config.upstreams) {
    std::string why;
    if (up.name.empty() || up.model.empty() || up.base_url.empty()) {
      why = "needs name, base_url and model";
    } else {
      TRY_OK(check_name(config, "[[upstream]] name", up.name));
      TRY_OK(check_name(config, "[[upstream]] model", up.model));
    }
    if (!names.insert(up.name).second) why = "the name is there twice";
    if (!up.base_url.starts_with("http://") && !up.base_url.starts_with("https://")) {
      why = "base_url must start with http:// or https://, such as \"https://host/v1\"";
    }
    if (up.max_concurrent < 1) why = "max_concurrent must be 1 or more";
    if (!why.empty()) {
      return fail(ErrorCode::kInvalidRequest, fmt::format("{}: [[upstream]] '{}': {}", config.file, up.name, why),
                  "upstream");
    }
  }
  return {};
}

Result<void> check_routes(const Config& config) {
  static const std::set<std::string> known_tiers = {"exact", "semantic", "rules", "light"};
  std::set<std::string> models;
  std::set<std::string> names;
  for (const auto& route : config.routes) {
    const auto bad = [&](std::string why) {
      return fail(ErrorCode::kInvalidRequest, fmt::format("{}: [[route]] '{}': {}", config.file, route.name, why),
                  "route");
    };
    TRY_OK(check_name(config, "[[route]] name", route.name));
    for (const auto& model : route.models) TRY_OK(check_name(config, "[[route]] models", model));
    if (!names.insert(route.name).second) return bad("the name is there twice");
    if (route.models.empty()) return bad("models is empty: name at least one model that clients may ask for");
    for (const auto& model : route.models) {
      if (!models.insert(model).second) return bad(fmt::format("model '{}' has a route already", model));
    }
    for (const auto& tier : route.tiers) {
      if (!known_tiers.contains(tier))
        return bad(fmt::format("unknown tier '{}': exact, semantic, rules, light", tier));
    }
    for (const auto& name : route.upstreams) {
      const auto known = std::any_of(config.upstreams.begin(), config.upstreams.end(),
                                     [&](const auto& up) { return up.name == name; });
      if (!known) return bad(fmt::format("no [[upstream]] is named '{}'", name));
    }
  }
  return {};
}

template <typename S>
std::string title(const Section<S>& section) {
  return section.many() ? fmt::format("[[{}]]", section.name()) : fmt::format("[{}]", section.name());
}

template <typename S>
void show_section(std::string& out, const Section<S>& section, const S& values) {
  out += title(section) + "\n";
  for (const auto& field : section.fields()) {
    if (const std::string value = field.show(values); !value.empty()) {
      fmt::format_to(std::back_inserter(out), "{} = {}\n", field.key, value);
    }
  }
  out += '\n';
}

template <typename S>
void comment_section(std::string& out, const Section<S>& section, const S& defaults) {
  fmt::format_to(std::back_inserter(out), "# {}\n", section.help());
  const std::string_view mark = section.many() ? "# " : "";  // A list entry is an example until it is uncommented.
  fmt::format_to(std::back_inserter(out), "{}{}\n", mark, title(section));
  for (const auto& field : section.fields()) {
    const std::string value = field.show(defaults);
    const bool unset = value.empty();  // an example; it stays a comment when a whole list entry is uncommented
    fmt::format_to(std::back_inserter(out), "{}{}{} = {}  # {}\n", mark, unset ? "# " : "", field.key,
                   unset ? "0.9" : value, field.help);
  }
  out += '\n';
}

}  // namespace

std::string_view name_fault(std::string_view name) {
  if (name.empty()) return "a name must not be empty";
  if (!text::valid_utf8(name)) return "a name must be UTF-8";
  for (size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    const std::string_view rest = name.substr(i);
    const bool c1 = byte == 0xC2 && static_cast<unsigned char>(rest[1]) < 0xA0;
    if (byte < 0x20 || byte == 0x7F || c1 || rest.starts_with("\u2028") || rest.starts_with("\u2029")) {
      return "a name must not hold line breaks or control characters";
    }
  }
  return {};
}

Result<Config> parse_config(std::string_view text, const std::string& file) {
  TRY(const toml::table root, parse_toml(text, file));
  const Sections& sections = Sections::all();
  for (const auto& [key, node] : root) {
    const auto known = sections.names();
    if (std::find(known.begin(), known.end(), key.str()) == known.end()) {
      return at(file, key.source(), unknown("section", key.str(), known), key.str());
    }
  }
  Config config;
  config.file = file;
  TRY_OK(read_one(sections.server, root, config.server, file));
  TRY_OK(read_one(sections.compute, root, config.compute, file));
  TRY_OK(read_one(sections.models, root, config.models, file));
  TRY_OK(read_one(sections.light, root, config.light, file));
  TRY_OK(read_one(sections.rules, root, config, file));
  TRY_OK(read_one(sections.cache, root, config.cache, file));
  TRY_OK(read_one(sections.ledger, root, config.ledger, file));
  TRY_OK(read_one(sections.log, root, config.log, file));
  TRY_OK(read_many(sections.key, root, config.keys, file));
  TRY_OK(read_many(sections.upstream, root, config.upstreams, file));
  TRY_OK(read_many(sections.route, root, config.routes, file));
  if (config.routes.empty()) {
    config.routes.emplace_back();
    for (const auto& up : config.upstreams) config.routes.back().upstreams.push_back(up.name);
  }
  resolve_paths(config);
  TRY_OK(check_server(config));
  TRY_OK(check_keys(config));
  TRY_OK(check_upstreams(config));
  TRY_OK(check_routes(config));
  return config;
}

Result<Config> load_config(const std::string& file) {
  const auto text = read_file(file);
  if (!text) {
    return fail(ErrorCode::kInvalidRequest,
                fmt::format("{}. `hengshi init` writes one to start from.", text.error().message), "config");
  }
  return parse_config(*text, file);
}

std::string show_fixed(const Config& config) {
  const Sections& sections = Sections::all();
  std::string out;
  show_section(out, sections.server, config.server);
  show_section(out, sections.compute, config.compute);
  show_section(out, sections.cache, config.cache);
  show_section(out, sections.ledger, config.ledger);
  return out;
}

std::string show_config(const Config& config) {
  const Sections& sections = Sections::all();
  std::string out = show_fixed(config);
  show_section(out, sections.models, config.models);
  show_section(out, sections.light, config.light);
  show_section(out, sections.rules, config);
  show_section(out, sections.log, config.log);
  for (const auto& key : config.keys) show_section(out, sections.key, key);
  for (const auto& up : config.upstreams) show_section(out, sections.upstream, up);
  for (const auto& route : config.routes) show_section(out, sections.route, route);
  return out;
}

std::string& PathsConfig::of(text::Language language) {
  switch (language) {
    case text::Language::kChinese: return zh;
    case text::Language::kEnglish: return en;
    case text::Language::kOther: return other;
  }
  return other;
}

std::string commented_config(const PathsConfig& models, const PathsConfig& light) {
  const Sections& sections = Sections::all();
  const Config defaults;
  std::string out =
      "# hengshi.toml: every key with its default. `hengshi check` prints what is in force.\n"
      "# Relative paths are relative to this file. Durations: \"500ms\", \"1.5s\", \"10m\", \"1h\". Sizes: "
      "\"64MB\".\n\n";
  comment_section(out, sections.server, ServerConfig{});
  comment_section(out, sections.compute, ComputeConfig{});
  comment_section(out, sections.models, models);
  comment_section(out, sections.light, light);
  comment_section(out, sections.rules, defaults);
  comment_section(out, sections.cache, defaults.cache);
  comment_section(out, sections.ledger, LedgerConfig{});
  comment_section(out, sections.log, LogConfig{});
  comment_section(out, sections.key, KeyConfig{});
  comment_section(out, sections.upstream, UpstreamConfig{});
  comment_section(out, sections.route, RouteConfig{});
  return out;
}

}  // namespace hengshi::app
