// complain.h — how a command ends badly: one line on stderr, exit 2 for bad input or a file that is not there, else 1.
//
// Threads: any.
#pragma once

#include <cstdio>

#include "base/result.h"

namespace hengshi::app {

inline int complain(const Error& error) {
  std::fprintf(stderr, "hengshi: %s\n", error.message.c_str());
  return error.code == ErrorCode::kInvalidRequest || error.code == ErrorCode::kNotFound ? 2 : 1;
}

}  // namespace hengshi::app
