// waiter.h — a place for one coroutine to wait until it is woken, its time is up, or it is cancelled.
//
// Threads: one loop. The waiting frame must keep the Waiter alive; Asio owns the frame, so a stopped loop leaks
//          nothing.
#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/basic_waitable_timer.hpp>

#include "base/clock.h"
#include "io/task.h"

namespace hengshi::io {

using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                boost::asio::wait_traits<std::chrono::steady_clock>, Executor>;

enum class Woken : uint8_t { kSignal, kDeadline, kCancelled };

class Waiter {
 public:
  explicit Waiter(const Executor& executor) : timer_(executor) {}

  // A kSignal may come late or twice: look at what was waited for, then wait again.
  Task<Woken> wait(Monotonic until = Monotonic::max()) {
    signalled_ = false;
    waiting_ = true;
    timer_.expires_at(until);
    const auto [ec] = co_await timer_.async_wait(boost::asio::as_tuple(kAwait));
    waiting_ = false;
    if (signalled_) co_return Woken::kSignal;
    co_return ec ? Woken::kCancelled : Woken::kDeadline;
  }

  // Resumes the waiting coroutine from the loop's queue, never from inside this call.
  void wake() {
    if (!waiting_ || signalled_) return;
    signalled_ = true;
    boost::system::error_code ignored;  // It has no way to fail; without it, it may throw.
    timer_.cancel(ignored);
  }

 private:
  Timer timer_;
  bool waiting_ = false;
  bool signalled_ = false;
};

}  // namespace hengshi::io
