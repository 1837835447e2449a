// cancel.h — stops what a request was waiting for, because nobody waits for its answer any more.
//
// Errors:  a guarded task that is stopped answers kCancelled; what it owned is destroyed.
// Threads: one loop.
#pragma once

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/system/system_error.hpp>
#include <utility>

#include "base/result.h"
#include "io/task.h"

namespace hengshi::io {

class Cancellation {
 public:
  void request() {
    requested_ = true;
    signal_.emit(boost::asio::cancellation_type::terminal);
  }
  bool requested() const { return requested_; }

  template <typename T>
  Task<Result<T>> guard(Task<Result<T>> task) {
    try {
      auto result = co_await boost::asio::co_spawn(co_await boost::asio::this_coro::executor, std::move(task),
                                                   boost::asio::bind_cancellation_slot(signal_.slot(), kAwait));
      co_return std::move(result);
    } catch (const boost::system::system_error& error) {
      // Asio throws it into a cancelled coroutine; anything else it throws is a fault of the network.
      co_return fail(requested_ ? ErrorCode::kCancelled : ErrorCode::kInternal,
                     requested_ ? "The client has left." : "An operation failed unexpectedly.");
    }
  }

 private:
  boost::asio::cancellation_signal signal_;
  bool requested_ = false;
};

}  // namespace hengshi::io
