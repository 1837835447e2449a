#include "upstream/places.h"

#include <algorithm>
#include <exception>

#include "base/check.h"
#include "io/post.h"
#include "io/waiter.h"

namespace hengshi::upstream {

struct Places::Waiting {
  explicit Waiting(const io::Executor& on) : executor(on), waiter(on) {}

  io::Executor executor;
  io::Waiter waiter;
  // Under the mutex of Places:
  bool queued = false;
  bool granted = false;  // has a place that nobody has taken yet
};

// A stay in the queue. However the coroutine ends, it leaves no entry and no place behind.
class Places::Turn {
 public:
  Turn(Places& places, Waiting& waiting) : places_(places), waiting_(waiting) {}
  Turn(const Turn&) = delete;
  ~Turn() { places_.leave(waiting_); }

  bool accept() {
    const std::lock_guard lock(places_.mutex_);
    return std::exchange(waiting_.granted, false);
  }

 private:
  Places& places_;
  Waiting& waiting_;
};

Places::Places(int limit, int queue_limit, Gauge& in_flight, Gauge& queue_depth)
    : limit_(static_cast<size_t>(std::max(limit, 1))),
      queue_limit_(static_cast<size_t>(std::max(queue_limit, 0))),
      in_flight_(in_flight),
      queue_depth_(queue_depth) {}

io::Task<Result<Places::Place>> Places::take(io::Deadline deadline) {
  const auto self = shared_from_this();
  const auto waiting = std::make_shared<Waiting>(co_await io::kThisLoop);
  const Entry entry = enter(waiting);
  if (entry == Entry::kTaken) co_return Place(self);
  if (entry == Entry::kFull) {
    Error full{ErrorCode::kOverloaded, "Too many calls wait for this model."};
    full.retry_after_s = 1;
    co_return tl::unexpected(std::move(full));
  }
  Turn turn(*this, *waiting);
  while (true) {
    const io::Woken woken = co_await waiting->waiter.wait(deadline.at());
    if (turn.accept()) co_return Place(self);
    if (woken == io::Woken::kDeadline) co_return fail(ErrorCode::kDeadline, "The model had no free place in time.");
    if (woken == io::Woken::kCancelled) co_return fail(ErrorCode::kCancelled, "The call was cancelled.");
  }
}

Places::Entry Places::enter(const std::shared_ptr<Waiting>& waiting) {
  const std::lock_guard lock(mutex_);
  // A place is never free while somebody waits: release() hands it on.
  if (in_use_ < limit_) {
    ++in_use_;
    in_flight_.add(1);
    return Entry::kTaken;
  }
  if (queue_.size() >= queue_limit_) return Entry::kFull;
  waiting->queued = true;
  queue_.push_back(waiting);
  queue_depth_.add(1);
  return Entry::kQueued;
}

// Both run in destructors. What they call throws only when memory is out, and then there is no going on.
void Places::leave(Waiting& waiting) noexcept try {
  std::unique_lock lock(mutex_);
  if (waiting.queued) {
    std::erase_if(queue_, [&](const auto& other) { return other.get() == &waiting; });
    queue_depth_.add(-1);
    waiting.queued = false;
  }
  const bool unused = std::exchange(waiting.granted, false);
  lock.unlock();
  if (unused) release();
} catch (const std::exception& error) {
  CHECK(false, error.what());
}

void Places::release() noexcept try {
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) {
    --in_use_;
    in_flight_.add(-1);
    return;
  }
  auto next = std::move(queue_.front());
  queue_.pop_front();
  queue_depth_.add(-1);
  next->queued = false;
  next->granted = true;
  // Posted under the mutex: once it is granted, its coroutine may end and its loop with it.
  const io::Executor executor = next->executor;
  io::post(executor, [waiting = std::move(next)] { waiting->waiter.wake(); });
} catch (const std::exception& error) {
  CHECK(false, error.what());
}

}  // namespace hengshi::upstream
