// version.h — the version of this build.
#pragma once

#include <string_view>

namespace hengshi::app {

inline constexpr std::string_view kVersion = "0.1.0";

}  // namespace hengshi::app
