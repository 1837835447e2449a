// errors.h — the error body of the wire, all four keys, and reading an upstream's.
//
// Threads: free functions.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hengshi::api {

// {"error":{"message","type","param","code"}}
std::string write_error(const Error& error);

// An upstream's refusal as ours: 400/404/413/422/429 keep their meaning (message cleaned, at most 300 characters, no
// key-like words), 401/403 become kUpstream without the provider's text, the rest kUpstream.
Error read_upstream_error(int status, std::string_view body, int retry_after_s);

}  // namespace hengshi::api
