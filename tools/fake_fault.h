// fake_fault.h — what the fake upstream does wrong on purpose, as a request or the command line asks for it.
//
// Errors:  parse() names the word it does not know.
// Threads: values.
#pragma once

#include <charconv>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fake {

using hengshi::ErrorCode;
using hengshi::fail;
using hengshi::Result;

struct Faults {
  bool hang_headers = false;  // never answers
  bool refuse = false;        // closes the connection without an answer
  bool garbage = false;       // 200, and no chat chunk in it
  bool json = false;          // a whole answer although a stream was asked for
  bool no_usage = false;
  int status = 0;           // this status instead of an answer
  std::string retry_after;  // with `status`; sent as it is
  int slow_ms = 0;          // between the head and the first token
  int stall_after = -1;     // falls silent after so many tokens
  int cut_after = -1;       // breaks the connection after so many tokens
  int error_after = -1;     // an error event after so many tokens
};

inline Result<void> add_fault(Faults& faults, std::string_view word) {
  const size_t colon = word.find(':');
  const std::string_view name = word.substr(0, colon);
  const std::string_view value = colon == word.npos ? std::string_view() : word.substr(colon + 1);
  const auto number = [](std::string_view text, int otherwise) {
    std::from_chars(text.data(), text.data() + text.size(), otherwise);
    return otherwise;
  };
  if (name == "stall") {
    faults.stall_after = number(value, 0);
  } else if (name == "cut") {
    faults.cut_after = number(value, 0);
  } else if (name == "error-chunk") {
    faults.error_after = number(value, 0);
  } else if (name == "slow") {
    faults.slow_ms = number(value, 1'000);
  } else if (name == "garbage") {
    faults.garbage = true;
  } else if (name == "refuse") {
    faults.refuse = true;
  } else if (name == "json") {
    faults.json = true;
  } else if (name == "no-usage") {
    faults.no_usage = true;
  } else if (name == "hang-headers") {
    faults.hang_headers = true;
  } else if (const int status = number(name, 0); status >= 300 && status <= 599) {
    faults.status = status;
    faults.retry_after = value;
  } else {
    return fail(ErrorCode::kInvalidRequest, "unknown fault '" + std::string(name) + "'");
  }
  return {};
}

// Words joined by '+': "slow:200+cut:3".
inline Result<Faults> parse_faults(std::string_view words) {
  Faults out;
  while (!words.empty()) {
    const size_t plus = words.find('+');
    const std::string_view word = words.substr(0, plus);
    if (!word.empty()) TRY_OK(add_fault(out, word));
    words = plus == words.npos ? std::string_view() : words.substr(plus + 1);
  }
  return out;
}

}  // namespace fake
