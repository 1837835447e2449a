// checkpoint.h — where a training run stands, as one file: enough to go on as if nothing had happened.
//
// Shapes:  little-endian: magic "HSTUNE01", the run's digest, counters, a checksum, the history, then parameters, both
//          moments and the best parameters. Random numbers need no state: they go by step (dice.h).
// Errors:  reading: no file is no error; a damaged one, or one of another run, is, and says to delete it.
//          Writing: the path and why; the older checkpoint stays.
// Threads: one writer per path.
// Source:  docs/decisions/0009-tuning.md.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/digest.h"
#include "base/result.h"
#include "tune/tune.h"

namespace hengshi::tune {

struct Counters {
  uint64_t step = 0, worse = 0, best_step = 0, seen = 0, right = 0;
  double loss = 0, best_loss = 0;
};

struct Checkpoint {
  Counters counters;
  std::vector<Validation> history;
  std::vector<float> parameters, first, second, best;
};

// Views of the same, to write without a copy.
struct Standing {
  Counters counters;
  std::span<const Validation> history;
  std::span<const float> parameters, first, second, best;
};

Result<void> write_checkpoint(const std::string& path, const Digest& run, const Standing& standing);
Result<std::optional<Checkpoint>> read_checkpoint(const std::string& path, const Digest& run, size_t parameters);

}  // namespace hengshi::tune
