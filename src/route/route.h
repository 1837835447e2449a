// route.h — facts of a request in, the tiers it may use out; pure, so any decision can be replayed.
//
// Errors:  none; every skipped tier carries its reason.
// Threads: free functions over values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hengshi::route {

// Who computes it: the door (api::ChatRequest), the key (tenant), the client's headers.
struct Facts {
  bool concrete_model = false;  // the client named an upstream's own model
  bool has_question = false;    // the last message is the user's, with text
  bool has_system = false;
  bool has_history = false;
  std::string_view beyond_local;  // field only an upstream can honour
  std::string_view language = "other";
  size_t question_characters = 0;
  bool bypass_read = false;   // Cache-Control: no-cache, or x-hengshi-cache: bypass
  bool bypass_write = false;  // Cache-Control: no-store, or x-hengshi-cache: bypass
};

// What the route's config allows.
struct Policy {
  bool exact = true;
  bool semantic = true;
  bool rules = true;
  bool light = true;
  bool ignore_system = false;         // system_prompt = "ignore"
  size_t max_local_characters = 200;  // longer questions go to an upstream
};

struct Plan {
  bool read_exact = false;
  bool read_semantic = false;
  bool rules = false;
  bool light = false;
  bool write_exact = false;
  bool write_semantic = false;
  std::string local_refused;  // why rules and light are out: "tools", "history", "system", "long" …
};

Plan plan(const Facts& facts, const Policy& policy);

}  // namespace hengshi::route
