// file.h — whole files: into memory, and onto the disk whole or not at all.
//
// Errors:  reading: kNotFound when the path cannot be read or is no regular file (a folder, a device); the message says which.
//          Writing: the path and the system's word for it (no space left, read-only …); what was there before stays.
// Threads: free functions; one writer per path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi {

Result<std::string> read_file(const std::string& path);

// The pieces one after the other, written aside, synced and renamed into place. What a link leads to is replaced, not the
// link; a file keeps its mode; a device or a pipe is simply written to.
Result<void> write_whole(const std::string& path, const std::vector<std::string_view>& pieces);

}  // namespace hengshi
