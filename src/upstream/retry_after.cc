#include "upstream/retry_after.h"

#include <time.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <string>

namespace hengshi::upstream {

namespace {

constexpr int64_t kLongest = 86'400;

std::optional<Wall> http_date(const std::string& text) {
  for (const char* form : {"%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"}) {
    tm parts{};
    const char* end = strptime(text.c_str(), form, &parts);
    if (end != nullptr && *end == '\0') return std::chrono::system_clock::from_time_t(timegm(&parts));
  }
  return std::nullopt;
}

}  // namespace

int retry_after_s(std::string_view header, Wall now) {
  const size_t begin = header.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return 0;
  header = header.substr(begin, header.find_last_not_of(" \t") - begin + 1);
  int64_t seconds = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (end != header.data() + header.size() || error == std::errc::invalid_argument) {
    const auto date = http_date(std::string(header));
    if (!date) return 0;
    seconds = std::chrono::ceil<std::chrono::seconds>(*date - now).count();
  } else if (error == std::errc::result_out_of_range) {
    seconds = kLongest;
  }
  return static_cast<int>(std::clamp<int64_t>(seconds, 1, kLongest));
}

}  // namespace hengshi::upstream
