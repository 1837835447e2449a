// compute_pool.h — threads for work too long for a loop.
//
// Two queues: what somebody waits for in a conversation goes first, bulk work gets every ninth turn at least.
//
// Errors:  a full queue answers kOverloaded at once; kDeadline; kCancelled.
// Threads: run() from any loop; the work runs on a pool thread, the caller resumes on its own loop.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "io/task.h"

namespace hengshi::io {

enum class Urgency : uint8_t { kInteractive, kBulk };

class ComputePool {
 public:
  ComputePool(int threads, size_t queue_limit);  // the limit is of each queue
  ~ComputePool();
  // Runs `work` to its end, whatever happens to the caller meanwhile: it owns what it uses. Work whose turn comes after
  // the deadline, or when its caller has gone, is dropped; kDeadline comes at the deadline, also when work is under way.
  // Bulk work should come in slices of a few milliseconds: one that runs is not interrupted.
  Task<Result<void>> run(std::function<void()> work, Deadline deadline, Urgency urgency = Urgency::kInteractive);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hengshi::io
