// compute_pool.h — threads for work too long for a loop.
//
// Errors:  a full queue answers kOverloaded at once; kDeadline; kCancelled.
// Threads: run() from any loop; the work runs on a pool thread, the caller resumes on its own loop.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "base/result.h"
#include "io/task.h"

namespace hengshi::io {

class ComputePool {
 public:
  ComputePool(int threads, size_t queue_limit);
  ~ComputePool();
  // Runs `work` to its end, whatever happens to the caller meanwhile: it owns what it uses. Work whose turn comes after
  // the deadline, or when its caller has gone, is dropped; kDeadline comes at the deadline, also when work is under way.
  Task<Result<void>> run(std::function<void()> work, Deadline deadline);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hengshi::io
