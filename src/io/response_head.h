// response_head.h — response heads written by hand, and the errors a connection answers by itself.
//
// Errors:  none: a line break inside a header's value becomes a space.
// Threads: one HeadWriter per loop.
// Source:  RFC 9112 section 6.3 for which responses have a body.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "io/server.h"

namespace hengshi::io {

struct Framing {
  enum class Body : uint8_t { kLength, kChunked, kUntilClose };
  Body body = Body::kLength;
  size_t length = 0;
  bool http_1_1 = true;
  bool keep_alive = true;
};

// True for the statuses that never have a body, nor a length.
inline bool bodiless(int status) { return status < 200 || status == 204 || status == 304; }

class HeadWriter {
 public:
  // Renders the Date anew when the second has changed: called by the loop's sweep, not per response.
  void refresh(Wall now);
  // Appends the head, its empty line included.
  void append(std::string& out, int status, std::span<const Header> headers, const Framing& framing) const;

 private:
  int64_t second_ = -1;
  std::string fixed_;  // "Server: …\r\nDate: …\r\n"
};

// {"error":{"message","type","param","code"}}
std::string error_body(const Error& error);

// "req-" and 16 random hex digits.
std::string make_request_id();

}  // namespace hengshi::io
