// wire_parts.h — pieces that whole answers and chunks have in common.
//
// Threads: free functions; each appends.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "api/chat.h"
#include "api/json.h"

namespace hengshi::api {

void append_usage(std::string& out, const Usage& usage);
void append_extension(std::string& out, const Extension& extension);

// `{"id":…,"object":…,"created":…,"model":…,"service_tier":…,"system_fingerprint":null`
void append_head(std::string& out, std::string_view id, std::string_view object, int64_t created,
                 std::string_view model);

// A member's text; empty when it has none.
std::string_view text_member(json::Value object, std::string_view name);

// The counts of a `usage` object; what is missing or no count is 0.
Usage read_usage(json::Value usage);

// An upstream's `usage` to be passed on: its own bytes, or, when a number in it is no count or they do not add up, what
// a whole answer says then.
void append_counts(std::string& out, json::Value usage);

}  // namespace hengshi::api
