// event.h — the frame of a chunk's event, for those that pass chunks on and those that play a stored answer back.
//
// Threads: free functions.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "api/chat.h"
#include "api/wire_parts.h"

namespace hengshi::api {

inline constexpr std::string_view kChunkObject = "chat.completion.chunk";
inline constexpr std::string_view kData = "data: ";

// Line breaks inside JSON are white space between tokens; in an event they would end the line.
inline void end_event(std::string& out, size_t begin) {
  if (out.find('\n', begin) != out.npos || out.find('\r', begin) != out.npos) {
    std::replace_if(
        out.begin() + static_cast<ptrdiff_t>(begin), out.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  }
  out += "\n\n";
}

// What stands behind the choices of an event.
inline std::string tail_of(bool include_usage, const Extension* extension) {
  std::string tail;
  if (include_usage) tail += R"(,"usage":null)";
  if (extension != nullptr) {
    tail += R"(,"hengshi":)";
    append_extension(tail, *extension);
  }
  tail += '}';
  return tail;
}

}  // namespace hengshi::api
