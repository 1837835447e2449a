#include "base/clock.h"

#include <fmt/chrono.h>

namespace hengshi {

std::string utc(Wall at) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(at)));
}

}  // namespace hengshi
