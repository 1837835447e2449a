// upstream_words.h — what an upstream said, judged before anything of it is passed on.
//
// Errors:  kUpstream for what is no chat chunk; an {"error": …} chunk as the error it states.
// Threads: free functions; Values live until the thread's next parse.
#pragma once

#include <string>
#include <string_view>

#include "api/json.h"
#include "base/result.h"

namespace hengshi::api {

// The chunk's object; `choices` is there and an array.
Result<json::Value> read_chunk(std::string_view chunk);

// At most 300 characters of a provider's message, on one line, without words that look like keys.
std::string clean_message(std::string_view message);

}  // namespace hengshi::api
