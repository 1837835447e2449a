// upstream_words.h — what an upstream said, judged before anything of it is passed on.
//
// Errors:  kUpstream for what is no chat chunk; an {"error": …} chunk as the error it states.
// Threads: free functions; Values live until the thread's next parse.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"
#include "base/result.h"

namespace hengshi::api {

struct Chunk {
  json::Value root;
  json::Value choices;                // an array
  std::optional<json::Value> counts;  // `usage`, when it is an object
};

Result<Chunk> read_chunk(std::string_view chunk);

// At most 300 characters of a provider's message, on one line, without words that look like keys.
std::string clean_message(std::string_view message);

}  // namespace hengshi::api
