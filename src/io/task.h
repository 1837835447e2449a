// task.h — the coroutine type of the house, and the time a request may still take.
//
// Threads: a Task runs on the loop that started it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

#include "base/clock.h"

namespace hengshi::io {

using EventLoop = boost::asio::io_context;
using Executor = EventLoop::executor_type;

template <typename T>
using Task = boost::asio::awaitable<T, Executor>;

inline constexpr boost::asio::use_awaitable_t<Executor> kAwait{};

// One per request; it only ever shrinks.
class Deadline {
 public:
  explicit Deadline(Monotonic at) : at_(at) {}
  static Deadline after(std::chrono::nanoseconds budget) { return Deadline(std::chrono::steady_clock::now() + budget); }

  Monotonic at() const { return at_; }
  Deadline earlier(Monotonic other) const { return Deadline(other < at_ ? other : at_); }
  std::chrono::nanoseconds left() const { return at_ - std::chrono::steady_clock::now(); }
  bool passed() const { return left() <= std::chrono::nanoseconds::zero(); }

 private:
  Monotonic at_;
};

}  // namespace hengshi::io
