// sse.h — server-sent events from bytes: the one parser of the house.
//
// Errors:  an event longer than the limit is kUpstream; anything else a stream may hold is accepted or ignored.
// Threads: one parser per stream.
// Source:  WHATWG HTML, "Server-sent events", parsing an event stream.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace hengshi::io {

struct SseEvent {
  std::string type;  // empty: message
  std::string data;  // data lines joined by '\n'
};

class SseParser {
 public:
  explicit SseParser(size_t event_limit = size_t{4} << 20) : limit_(event_limit) {}
  // Takes more bytes; splits may fall anywhere, also inside CRLF or a character.
  Result<void> feed(std::string_view bytes);
  // The next whole event, oldest first; false when there is none yet.
  bool next(SseEvent& event);

 private:
  size_t limit_;
  std::string buffer_;
  size_t start_ = 0;  // of the line being read
  bool skip_lf_ = false;
  bool at_start_ = true;  // a BOM may follow
  SseEvent current_;
  bool has_data_ = false;
};

}  // namespace hengshi::io
