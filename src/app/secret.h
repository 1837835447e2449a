// secret.h — a key that the environment holds, so that no file does.
//
// Errors:  kInvalidRequest, naming the variable and whose key it is: not set, or it holds what no header may.
// Threads: free function; nothing may set the environment meanwhile.
#pragma once

#include <string>
#include <string_view>

#include "app/config.h"
#include "base/result.h"

namespace hengshi::app {

// `key` is the config's key that names the variable, `whose` the part that the secret is for.
Result<std::string> read_secret(const std::string& variable, std::string_view whose, std::string_view key);

// The key that /metrics asks for; empty: none.
Result<std::string> metrics_key(const Config& config);

}  // namespace hengshi::app
