// A stream read whole gives the events it gives when read byte by byte and in odd pieces; the limit holds.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "io/sse.h"

namespace {

using hengshi::io::SseEvent;
using hengshi::io::SseParser;

constexpr size_t kLimit = 64;

std::vector<std::string> read(std::string_view bytes, size_t piece) {
  SseParser parser(kLimit);
  std::vector<std::string> events;
  SseEvent event;
  for (size_t at = 0; at < bytes.size(); at += piece) {
    const bool fine = parser.feed(bytes.substr(at, std::min(piece, bytes.size() - at))).has_value();
    while (parser.next(event)) {
      CHECK(event.type.size() + event.data.size() <= kLimit, "no event is beyond the limit");
      events.push_back(event.type + '\n' + event.data);
    }
    if (!fine) break;
  }
  return events;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto whole = read(bytes, std::max<size_t>(size, 1));
  for (size_t piece = 1; piece < 8; piece += piece) CHECK(read(bytes, piece) == whole, "splits change nothing");
  return 0;
}
