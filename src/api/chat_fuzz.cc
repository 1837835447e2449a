// Whatever the bytes: parse_chat never crashes, and what it accepts goes upstream as a body that it accepts again,
// unchanged in meaning and stable when made anew.

#include <cstddef>
#include <cstdint>
#include <string>

#include "api/chat.h"
#include "base/check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using hengshi::api::parse_chat;
  using hengshi::api::upstream_body;
  const auto request = parse_chat(std::string(reinterpret_cast<const char*>(data), size));
  if (!request) {
    CHECK(!request.error().message.empty(), "a refusal says why");
    return 0;
  }
  CHECK(request->body == std::string(reinterpret_cast<const char*>(data), size), "the body is kept as it came");
  const std::string sent = upstream_body(*request, request->model);
  const auto again = parse_chat(sent);
  CHECK(again, "what goes upstream can be read");
  CHECK(again->stream && again->include_usage, "a stream with usage is asked for");
  CHECK(again->fingerprint == request->fingerprint, "what shapes the answer did not change");
  CHECK(again->question == request->question && again->stop == request->stop, "nor did the question");
  CHECK(upstream_body(*again, again->model) == sent, "a body made anew is the same");
  return 0;
}
