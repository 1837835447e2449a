// chat_fields.h — what each field of a chat request may hold, and what follows from it.
//
// Errors:  kInvalidRequest naming the field; null counts as absent, as on the wire.
// Threads: free functions.
// Source:  docs/decisions/0002-wire.md has the table in words.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "api/chat.h"
#include "api/json.h"

namespace hengshi::api {

// What one pass over the body gathers.
struct ChatReading {
  ChatRequest request;
  bool has_model = false;
  bool has_messages = false;
  bool has_stream_options = false;
  bool logprobs = false;
  bool top_logprobs = false;
  std::vector<uint32_t> question;       // Nodes holding the free-text question, ascending.
  std::vector<uint32_t> fingerprinted;  // Top-level members that shape an answer.

  void beyond_local(std::string_view field);  // The first one is kept.
};

// Reads all top-level members of `root`.
Result<void> read_chat_fields(json::Value root, ChatReading& reading);

// Reads the `messages` array: roles, contents, the question, history.
Result<void> read_messages(json::Value messages, ChatReading& reading);

}  // namespace hengshi::api
