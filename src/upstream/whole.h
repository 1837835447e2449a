// whole.h — a completion that came whole, as the chunks of a stream: some servers ignore `stream`.
//
// Errors:  kUpstream when the text is no chat completion. An {"error": …} body comes back as the one chunk it is.
// Threads: a free function; see api/json.h for the document of the thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi::upstream {

// Content and tool calls, then the finish reasons, then the usage when it is there. Unknown fields are kept.
Result<std::vector<std::string>> chunks_of(std::string_view completion);

}  // namespace hengshi::upstream
