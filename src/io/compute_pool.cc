#include "io/compute_pool.h"

#include <pthread.h>

#include <array>
#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "io/waiter.h"

namespace hengshi::io {

namespace {

namespace asio = boost::asio;

constexpr int kRow = 8;  // interactive work in a row while bulk work waits

// Where finished work reports to one loop; closed when the loop is destroyed, which may be before the work is done.
class Harbour {
 public:
  explicit Harbour(asio::io_context& loop) : loop_(loop) {}

  void close() {
    const std::lock_guard lock(mutex_);
    open_ = false;
  }

  template <typename F>
  void post(F work) {
    const std::lock_guard lock(mutex_);
    if (open_) asio::post(loop_, std::move(work));
  }

 private:
  asio::io_context& loop_;
  std::mutex mutex_;
  bool open_ = true;
};

// The loop owns its Harbour as an Asio service, so that its end is noticed.
class HarbourService final : public asio::execution_context::service {
 public:
  static inline asio::execution_context::id id;
  explicit HarbourService(asio::io_context& loop)
      : asio::execution_context::service(loop), harbour(std::make_shared<Harbour>(loop)) {}
  void shutdown() override { harbour->close(); }

  const std::shared_ptr<Harbour> harbour;
};

// What the caller and the work share. `waiter` is null once the caller is gone; used on the caller's loop only.
struct Ticket {
  Waiter* waiter = nullptr;
  bool done = false;
  bool ran = false;  // false: its turn came too late
  std::atomic<bool> wanted = true;
};

}  // namespace

struct ComputePool::State {
  std::mutex mutex;
  std::condition_variable more;
  std::array<std::deque<std::function<void()>>, 2> queues;  // by Urgency
  int row = 0;                                              // interactive work since bulk work last had its turn
  size_t queue_limit = 0;
  bool closing = false;
  std::vector<std::thread> threads;

  std::deque<std::function<void()>>& queue_of(Urgency urgency) { return queues[static_cast<size_t>(urgency)]; }

  bool push(std::function<void()> job, Urgency urgency) {
    {
      const std::lock_guard lock(mutex);
      auto& queue = queue_of(urgency);
      if (queue.size() >= queue_limit) return false;
      queue.push_back(std::move(job));
    }
    more.notify_one();
    return true;
  }

  bool idle() const { return queues[0].empty() && queues[1].empty(); }

  // Under the mutex, when not idle().
  std::function<void()> next() {
    auto& interactive = queue_of(Urgency::kInteractive);
    auto& bulk = queue_of(Urgency::kBulk);
    const bool bulks_turn = !bulk.empty() && (interactive.empty() || row == kRow);
    row = bulks_turn || bulk.empty() ? 0 : row + 1;
    auto& queue = bulks_turn ? bulk : interactive;
    std::function<void()> job = std::move(queue.front());
    queue.pop_front();
    return job;
  }

  void work(int index) {
    pthread_setname_np(pthread_self(), ("compute-" + std::to_string(index)).c_str());
    for (;;) {
      std::function<void()> job;
      {
        std::unique_lock lock(mutex);
        more.wait(lock, [this] { return closing || !idle(); });
        if (idle()) return;
        job = next();
      }
      job();
    }
  }
};

ComputePool::ComputePool(int threads, size_t queue_limit) : state_(std::make_unique<State>()) {
  state_->queue_limit = queue_limit;
  for (int i = 0; i < threads; ++i) state_->threads.emplace_back([state = state_.get(), i] { state->work(i); });
}

ComputePool::~ComputePool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closing = true;
  }
  state_->more.notify_all();
  for (auto& thread : state_->threads) thread.join();
}

Task<Result<void>> ComputePool::run(std::function<void()> work, Deadline deadline, Urgency urgency) {
  const auto executor = co_await asio::this_coro::executor;
  Waiter waiter(executor);
  auto ticket = std::make_shared<Ticket>();
  ticket->waiter = &waiter;
  struct Leave {
    Ticket& ticket;
    ~Leave() {
      ticket.waiter = nullptr;
      ticket.wanted.store(false, std::memory_order_relaxed);
    }
  };
  const Leave leave{*ticket};
  auto harbour = asio::use_service<HarbourService>(executor.context()).harbour;
  std::function<void()> job = [work = std::move(work), ticket, harbour = std::move(harbour), deadline]() mutable {
    ticket->ran = ticket->wanted.load(std::memory_order_relaxed) && !deadline.passed();
    if (ticket->ran) work();
    work = nullptr;
    harbour->post([ticket = std::move(ticket)] {
      ticket->done = true;
      if (ticket->waiter != nullptr) ticket->waiter->wake();
    });
  };
  if (!state_->push(std::move(job), urgency)) co_return fail(ErrorCode::kOverloaded, "Too much work is waiting.");
  while (!ticket->done) {
    const Woken why = co_await waiter.wait(deadline.at());
    if (why == Woken::kCancelled) co_return fail(ErrorCode::kCancelled, "Nobody waits any more.");
    if (why == Woken::kDeadline) co_return fail(ErrorCode::kDeadline, "The work was not done in time.");
  }
  if (!ticket->ran) co_return fail(ErrorCode::kDeadline, "The work was not begun in time.");
  co_return Result<void>{};
}

}  // namespace hengshi::io
