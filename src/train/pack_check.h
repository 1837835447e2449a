// pack_check.h — what keeps a pack from being trained: names, answers and slots that do not fit, phrasings in two places.
//
// Errors:  check_pack() says the first fault as "file:line: what is wrong; what to do", the file in `param`.
// Threads: pure.
// Source:  docs/pack.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/pack.h"

namespace hengshi::train {

struct PackFault {
  std::string_view kind;  // "name", "slot", "answer", "missing", "conflict", "classes"
  std::string file;
  uint32_t line = 0;
  std::string why;  // and what to do
};

std::vector<PackFault> find_faults(const Pack& pack);
Result<void> check_pack(const Pack& pack);

}  // namespace hengshi::train
