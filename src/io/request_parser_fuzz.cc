// Any bytes, in pieces of any size: the parser neither crashes nor reads a request differently for where it was split.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "io/request_parser.h"

namespace {

using hengshi::io::HttpRequest;
using hengshi::io::RequestParser;

// What became of the first requests in `bytes`, as text.
std::string outcome(std::string_view bytes, size_t step) {
  constexpr size_t kHeaderLimit = 512;
  constexpr size_t kBodyLimit = 256;
  HttpRequest request;
  RequestParser parser(request, kHeaderLimit, kBodyLimit);
  std::string out;
  std::string waiting;
  while (!bytes.empty() || !waiting.empty()) {
    const size_t before = waiting.size();
    waiting += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    const auto taken = parser.feed(waiting);
    if (!taken) return out + "refused";
    waiting.erase(0, *taken);
    if (parser.done()) {
      out += request.method + " " + request.target + " " + request.body + "\n";
      for (const auto& [name, value] : request.headers) out += name + ":" + value + "\n";
      parser.reset();
    } else if (bytes.empty() && *taken == 0 && waiting.size() == before) {
      return out + "incomplete";
    }
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1 || size > 4096) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = outcome(bytes, bytes.size() + 1);
  const std::string split = outcome(bytes, size_t{data[0]} % 16 + 1);
  // An over-long head may be noticed a little earlier or later; what was accepted before that must agree.
  const size_t common = std::min(whole.rfind('\n') + 1, split.rfind('\n') + 1);
  if (whole.compare(0, common, split, 0, common) != 0) std::abort();
  return 0;
}
