// places.h — how many calls an upstream takes at once, and who waits for the next free place.
//
// Errors:  kOverloaded at once when the queue is full (retry after 1 s); kDeadline when no place came free in time.
// Threads: shared by all loops under a mutex held for a few instructions; a waiter resumes on its own loop. First come,
//          first served across loops.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "base/metrics.h"
#include "base/result.h"
#include "io/task.h"

namespace hengshi::upstream {

class Places : public std::enable_shared_from_this<Places> {
 public:
  // Owned for as long as a call runs; freed, or handed to the next in line, when destroyed.
  class Place {
   public:
    Place() = default;
    explicit Place(std::shared_ptr<Places> of) : of_(std::move(of)) {}
    Place(Place&&) = default;
    Place& operator=(Place&&) = delete;
    ~Place() {
      if (of_) of_->release();
    }

   private:
    std::shared_ptr<Places> of_;
  };

  Places(int limit, int queue_limit, Gauge& in_flight, Gauge& queue_depth);
  io::Task<Result<Place>> take(io::Deadline deadline);

 private:
  struct Waiting;
  class Turn;
  enum class Entry { kTaken, kQueued, kFull };

  Entry enter(const std::shared_ptr<Waiting>& waiting);
  void leave(Waiting& waiting) noexcept;
  void release() noexcept;

  const size_t limit_, queue_limit_;
  Gauge& in_flight_;
  Gauge& queue_depth_;
  std::mutex mutex_;
  size_t in_use_ = 0;
  std::list<std::shared_ptr<Waiting>> queue_;
};

}  // namespace hengshi::upstream
