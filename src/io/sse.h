// sse.h — server-sent events from bytes: the one parser of the house.
//
// Errors:  an event longer than the limit is kUpstream; anything else a stream may hold is accepted or ignored.
// Threads: one parser per stream.
// Source:  WHATWG HTML, "Server-sent events", parsing an event stream.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi::io {

struct SseEvent {
  std::string type;  // empty: message
  std::string data;  // data lines joined by '\n'
};

class SseParser {
 public:
  explicit SseParser(size_t event_limit = size_t{4} << 20) : limit_(event_limit) {}
  // Takes more bytes; splits may fall anywhere, also inside CRLF or a character. After an error nothing more is taken;
  // events that were whole before it can still be had.
  Result<void> feed(std::string_view bytes);
  // The next whole event, oldest first; false when there is none yet. The strings of `event` are used again.
  bool next(SseEvent& event);

 private:
  std::string_view skip_mark(std::string_view bytes);
  bool within_limit(size_t more) const { return current_.data.size() + current_.type.size() + more <= limit_; }
  Result<void> too_long();
  void line(std::string_view line);
  void dispatch();

  size_t limit_;
  std::string partial_;   // A line whose end has not come.
  size_t mark_ = 0;       // Bytes of a byte order mark seen.
  bool at_start_ = true;  // A mark may still come.
  bool skip_lf_ = false;  // The last byte was CR.
  bool failed_ = false;
  SseEvent current_;
  bool has_data_ = false;
  std::vector<SseEvent> events_;  // Whole ones are [taken_, whole_); the others lend their memory.
  size_t taken_ = 0;
  size_t whole_ = 0;
};

}  // namespace hengshi::io
