// stored.h — a finished answer as the cache's opaque payload.
//
// Errors:  decode() refuses anything encode() did not write; the caller treats it as a miss.
// Threads: free functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/chat.h"

namespace hengshi::gateway {

std::string encode_stored(const api::Completion& completion);
std::optional<api::Completion> decode_stored(std::string_view payload);

}  // namespace hengshi::gateway
