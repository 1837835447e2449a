#include "app/secret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace hengshi::app {

Result<std::string> read_secret(const std::string& variable, std::string_view whose, std::string_view key) {
  const char* held = std::getenv(variable.c_str());
  if (held == nullptr || *held == '\0') {
    return fail(ErrorCode::kInvalidRequest,
                fmt::format("{}: the environment variable {} that should hold its key is not set", whose, variable),
                std::string(key));
  }
  std::string secret = held;
  if (std::any_of(secret.begin(), secret.end(), [](unsigned char c) { return c <= ' ' || c >= 0x7f; })) {
    return fail(
        ErrorCode::kInvalidRequest,
        fmt::format("{}: the key in {} holds something else than printable ASCII without spaces", whose, variable),
        std::string(key));
  }
  return secret;
}

Result<std::string> metrics_key(const Config& config) {
  if (config.server.metrics_key_env.empty()) return std::string();
  return read_secret(config.server.metrics_key_env, "[server] metrics_key_env", "server.metrics_key_env");
}

}  // namespace hengshi::app
