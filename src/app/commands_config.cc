// commands_config.cc — init, serve, check, models, keys: the commands around hengshi.toml.

#include <fmt/format.h>
#include <openssl/rand.h>

#include <array>
#include <cstdio>
#include <memory>

#include "app/build_snapshot.h"
#include "app/commands.h"
#include "app/complain.h"
#include "app/config.h"
#include "app/init.h"
#include "app/left_off.h"
#include "app/secret.h"
#include "app/serve.h"
#include "base/digest.h"
#include "base/file.h"

namespace hengshi::app {

namespace {

std::shared_ptr<std::string> add_config_option(CLI::App* command) {
  auto file = std::make_shared<std::string>("hengshi.toml");
  command->add_option("-c,--config", *file, "the config file")->capture_default_str();
  return file;
}

void for_each_language(const gateway::Snapshot& snapshot,
                       void (*print)(text::Language, const gateway::LanguageParts&)) {
  for (const text::Language language : text::kLanguages) print(language, snapshot.own(language));
}

constexpr std::string_view kUnchecked = "weights unchecked: its hengshi.json names no sha256";

void print_unchecked(text::Language language, const gateway::LanguageParts& parts) {
  if (parts.encoder == nullptr || parts.encoder->verified()) return;
  fmt::print("# [models] {}: {} {}\n", text::language_name(language), parts.encoder->name(), kUnchecked);
}

void print_threshold(text::Language language, const gateway::LanguageParts& parts) {
  if (parts.light == nullptr) return;
  fmt::print("# [light] {}: {} {}, threshold {}: {}\n", text::language_name(language), parts.light->name(),
             parts.light->version(), parts.light->threshold().in_words(), parts.light->threshold().how);
}

int check(const std::string& file) {
  auto config = load_config(file);
  if (!config) return complain(config.error());
  if (const auto key = metrics_key(*config); !key) return complain(key.error());
  Metrics metrics;
  auto snapshot = build_snapshot(*config, nullptr, metrics);
  if (!snapshot) return complain(snapshot.error());
  fmt::print("{}", show_config(*config));
  for_each_language(**snapshot, print_unchecked);
  for_each_language(**snapshot, print_threshold);
  fmt::print("# {}: good. {}\n", file, (*snapshot)->versions);
  for (const std::string& line : left_off(*config)) fmt::print("# off: {}\n", line);
  return 0;
}

void print_parts(text::Language language, const gateway::LanguageParts& parts) {
  const std::string_view key = text::language_name(language);
  if (parts.encoder != nullptr) {
    fmt::print("{:8} {:5} {:28} {:14} {:>5} dimensions, {:.1f} MB{}{}\n", "encoder", key, parts.encoder->name(),
               parts.encoder->version(), parts.encoder->dim(), static_cast<double>(parts.encoder->memory_bytes()) / 1e6,
               parts.encoder->verified() ? "" : "; ", parts.encoder->verified() ? "" : kUnchecked);
  }
  if (parts.light != nullptr) {
    const light::Threshold& threshold = parts.light->threshold();
    fmt::print("{:8} {:5} {:28} {:14} {:>5} intents, threshold {}{}{}\n", "light", key, parts.light->name(),
               parts.light->version(), parts.light->intents(), threshold.in_words(), threshold.never() ? ": " : "",
               threshold.never() ? threshold.how : "");
  }
}

int models(const std::string& file) {
  auto config = load_config(file);
  if (!config) return complain(config.error());
  Metrics metrics;
  auto snapshot = build_snapshot(*config, nullptr, metrics);
  if (!snapshot) return complain(snapshot.error());
  fmt::print("{:8} {:5} {:28} {:14}\n", "kind", "lang", "name", "version");
  for_each_language(**snapshot, print_parts);
  for (const auto& [model, route] : (*snapshot)->by_model) {
    fmt::print("{:8} {:5} {:28} route {}\n", route->concrete ? "upstream" : "chain", "", model, route->name);
  }
  return 0;
}

Result<std::string> new_secret() {
  std::array<unsigned char, 24> random;
  if (RAND_bytes(random.data(), static_cast<int>(random.size())) != 1) {
    return fail(ErrorCode::kInternal, "the system gave no random bytes");
  }
  std::string out = "hs-";
  for (const unsigned char byte : random) out += fmt::format("{:02x}", byte);
  return out;
}

int keys_add(const std::string& file, const std::string& name, const std::string& tenant) {
  for (const auto& [what, given] : {std::pair("NAME", &name), std::pair("--tenant", &tenant)}) {
    if (const auto why = name_fault(*given); !why.empty()) {
      return complain({ErrorCode::kInvalidRequest, fmt::format("keys add: {}: {}", what, why)});
    }
  }
  auto read = read_file(file);
  if (!read) {
    return complain({ErrorCode::kInvalidRequest, fmt::format("{}; `hengshi init` writes one", read.error().message)});
  }
  std::string text = std::move(*read);
  const auto config = parse_config(text, file);
  if (!config) return complain(config.error());
  for (const KeyConfig& key : config->keys) {
    if (key.name != name) continue;
    return complain(
        {ErrorCode::kInvalidRequest,
         fmt::format("{}: there is a key '{}' already, of tenant '{}'; give the new one another name, or take "
                     "the [[key]] of the old one out to make it anew",
                     file, name, key.tenant)});
  }
  auto secret = new_secret();
  if (!secret) return complain(secret.error());
  std::string quoted_name, quoted_tenant;
  append_json_string(quoted_name, name);
  append_json_string(quoted_tenant, tenant);
  text += fmt::format("\n[[key]]\nname = {}\ntenant = {}\nsha256 = \"{}\"\n", quoted_name, quoted_tenant,
                      sha256_hex(*secret));
  if (auto parsed = parse_config(text, file); !parsed) return complain(parsed.error());
  if (auto done = write_whole(file, {text}); !done) return complain(done.error());
  fmt::print("{}\n", *secret);
  std::fprintf(stderr,
               "Key '%s' of tenant '%s' added to %s. This is the only time it is shown; only its hash is stored.\n"
               "A running server takes it on SIGHUP.\n",
               name.c_str(), tenant.c_str(), file.c_str());
  return 0;
}

int keys_list(const std::string& file) {
  auto config = load_config(file);
  if (!config) return complain(config.error());
  fmt::print("{:20} {:20} {:14} {:>12} {:>12}\n", "name", "tenant", "sha256", "requests/min", "tokens/min");
  for (const auto& key : config->keys) {
    fmt::print("{:20} {:20} {:14} {:>12} {:>12}\n", key.name, key.tenant, key.sha256.substr(0, 12),
               key.requests_per_minute, key.tokens_per_minute);
  }
  return 0;
}

}  // namespace

void add_init(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("init", "write a commented hengshi.toml to start from");
  auto file = add_config_option(command);
  command->callback([file, &exit_code] { exit_code = init(*file); });
}

void add_serve(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("serve", "run the gateway (SIGHUP reloads, SIGTERM drains and stops)");
  auto file = add_config_option(command);
  command->callback([file, &exit_code] { exit_code = serve(*file); });
}

void add_check(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("check", "load everything the config names and print what is in force");
  auto file = add_config_option(command);
  command->callback([file, &exit_code] { exit_code = check(*file); });
}

void add_models(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("models", "list encoders, light models and the models clients may name");
  auto file = add_config_option(command);
  command->callback([file, &exit_code] { exit_code = models(*file); });
}

void add_keys(CLI::App& app, int& exit_code) {
  auto* keys = app.add_subcommand("keys", "make and list API keys");
  keys->require_subcommand(1);
  auto* add = keys->add_subcommand("add", "make a key, add its hash to the config, print it once");
  auto add_file = add_config_option(add);
  auto name = std::make_shared<std::string>();
  auto tenant = std::make_shared<std::string>("default");
  add->add_option("name", *name, "what the key is called in logs and limits")->required();
  add->add_option("--tenant", *tenant, "the tenant it belongs to")->capture_default_str();
  add->callback([add_file, name, tenant, &exit_code] { exit_code = keys_add(*add_file, *name, *tenant); });
  auto* list = keys->add_subcommand("list", "list the keys of the config; never the secrets");
  auto list_file = add_config_option(list);
  list->callback([list_file, &exit_code] { exit_code = keys_list(*list_file); });
}

}  // namespace hengshi::app
