// store.h — files that are there whole or not at all.
//
// Errors:  the path and the system's word for it (no space left, read-only …); what was there before stays.
// Threads: free functions; one writer per path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi::tune {

// The pieces one after the other, written aside, synced and renamed into place.
Result<void> write_whole(const std::string& path, const std::vector<std::string_view>& pieces);

}  // namespace hengshi::tune
