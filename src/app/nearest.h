// nearest.h — what somebody meant who wrote a name that does not exist.
//
// Threads: free function.
#pragma once

#include <string_view>
#include <vector>

namespace hengshi::app {

// The known name that takes the fewest edits; empty when none is near.
std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known);

}  // namespace hengshi::app
