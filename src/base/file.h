// file.h — a whole file into memory.
//
// Errors:  kNotFound when the path cannot be read or is no regular file (a folder, a device); the message says which.
// Threads: free function.
#pragma once

#include <string>

#include "base/result.h"

namespace hengshi {

Result<std::string> read_file(const std::string& path);

}  // namespace hengshi
