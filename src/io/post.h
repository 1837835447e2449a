// post.h — work handed to a loop, by a coroutine that waits on it or by another thread.
//
// Threads: any; the work runs on the loop, never inside the call. The loop must still be there.
#pragma once

#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <utility>

#include "io/task.h"

namespace hengshi::io {

// `co_await kThisLoop`: the Executor of the loop that a coroutine runs on.
inline constexpr boost::asio::this_coro::executor_t kThisLoop{};

template <typename Work>
void post(const Executor& loop, Work work) {
  boost::asio::post(loop, std::move(work));
}

}  // namespace hengshi::io
