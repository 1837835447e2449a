#include "io/sse.h"

#include <algorithm>
#include <utility>

namespace hengshi::io {

namespace {

constexpr std::string_view kMark = "\xEF\xBB\xBF";

}  // namespace

// Drops a byte order mark, however it is split; what only began like one is given to the first line.
std::string_view SseParser::skip_mark(std::string_view bytes) {
  while (at_start_ && !bytes.empty()) {
    if (bytes.front() == kMark[mark_]) {
      bytes.remove_prefix(1);
      at_start_ = ++mark_ < kMark.size();
      continue;
    }
    partial_ = kMark.substr(0, mark_);
    at_start_ = false;
  }
  return bytes;
}

Result<void> SseParser::too_long() {
  failed_ = true;
  return fail(ErrorCode::kUpstream, "The upstream sent an event that is too long.");
}

Result<void> SseParser::feed(std::string_view bytes) {
  if (failed_) return too_long();
  if (at_start_) bytes = skip_mark(bytes);
  if (skip_lf_ && !bytes.empty()) {
    if (bytes.front() == '\n') bytes.remove_prefix(1);
    skip_lf_ = false;
  }
  // The next LF is looked for once, not once per line: a stream of bare CRs stays linear.
  size_t lf = std::min(bytes.find('\n'), bytes.size());
  for (size_t at = 0; at < bytes.size();) {
    if (lf < at) lf = std::min(bytes.find('\n', at), bytes.size());
    const size_t end = at + std::min(bytes.substr(at, lf - at).find('\r'), lf - at);
    const std::string_view part = bytes.substr(at, end - at);
    if (!within_limit(partial_.size() + part.size())) return too_long();
    if (end == bytes.size()) {
      partial_ += part;
      break;
    }
    if (partial_.empty()) {
      line(part);
    } else {
      partial_ += part;
      line(partial_);
      partial_.clear();
    }
    at = end + 1;
    if (bytes[end] != '\r') continue;
    if (at == bytes.size()) {
      skip_lf_ = true;
    } else if (bytes[at] == '\n') {
      ++at;
    }
  }
  return {};
}

void SseParser::line(std::string_view line) {
  if (line.empty()) return dispatch();
  const size_t colon = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (name == "data") {
    if (has_data_) current_.data += '\n';
    current_.data += value;
    has_data_ = true;
  } else if (name == "event") {
    current_.type = value;
  }  // Comments have no name; id, retry and unknown fields mean nothing to a reader that does not reconnect.
}

void SseParser::dispatch() {
  if (has_data_) {
    if (whole_ == events_.size()) events_.emplace_back();
    std::swap(events_[whole_++], current_);
  }
  current_.type.clear();
  current_.data.clear();
  has_data_ = false;
}

bool SseParser::next(SseEvent& event) {
  if (taken_ == whole_) return false;
  std::swap(event, events_[taken_++]);
  if (taken_ == whole_) taken_ = whole_ = 0;
  return true;
}

}  // namespace hengshi::io
