// left_off.h — the tiers that a config leaves off, and what turns each on.
//
// Threads: free function.
#pragma once

#include <string>
#include <vector>

#include "app/config.h"

namespace hengshi::app {

// One line each, cheapest tier first.
std::vector<std::string> left_off(const Config& config);

}  // namespace hengshi::app
