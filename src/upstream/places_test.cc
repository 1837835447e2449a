#include "upstream/places.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <thread>
#include <vector>

#include "io/waiter.h"

namespace hengshi::upstream {
namespace {

using namespace std::chrono_literals;

class PlacesTest : public ::testing::Test {
 protected:
  std::shared_ptr<Places> make(int limit, int queue) {
    return std::make_shared<Places>(limit, queue, in_flight_, queue_depth_);
  }

  // Takes a place, notes how that went, and lets go of it when told to.
  io::Task<void> visit(std::shared_ptr<Places> places, int who, io::Waiter& until, io::Deadline deadline) {
    auto place = co_await places->take(deadline);
    if (place) {
      served_.push_back(who);
      co_await until.wait();
    } else {
      refused_.push_back(place.error().code);
      retry_after_s_ = place.error().retry_after_s;
    }
  }

  void spawn(io::Task<void> task) { boost::asio::co_spawn(loop_, std::move(task), boost::asio::detached); }

  // Until nothing can go on by itself.
  void settle() {
    loop_.restart();
    while (loop_.poll() > 0) {
    }
  }

  boost::asio::io_context loop_;
  Gauge in_flight_, queue_depth_;
  std::vector<int> served_;
  std::vector<ErrorCode> refused_;
  int retry_after_s_ = 0;
};

TEST_F(PlacesTest, WaitersAreServedInOrderOfArrival) {
  const auto places = make(1, 8);
  std::vector<std::unique_ptr<io::Waiter>> until;
  for (int i = 0; i < 4; ++i) {
    until.push_back(std::make_unique<io::Waiter>(loop_.get_executor()));
    spawn(visit(places, i, *until.back(), io::Deadline::after(1h)));
  }
  settle();
  EXPECT_EQ(served_, (std::vector{0}));
  EXPECT_EQ(in_flight_.value(), 1);
  EXPECT_EQ(queue_depth_.value(), 3);
  for (auto& waiter : until) {
    waiter->wake();
    settle();
  }
  EXPECT_EQ(served_, (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(in_flight_.value(), 0);
  EXPECT_EQ(queue_depth_.value(), 0);
}

TEST_F(PlacesTest, AFullQueueRefusesAtOnce) {
  const auto places = make(1, 1);
  io::Waiter until(loop_.get_executor()), second(loop_.get_executor());
  spawn(visit(places, 0, until, io::Deadline::after(1h)));
  spawn(visit(places, 1, second, io::Deadline::after(1h)));
  spawn(visit(places, 2, until, io::Deadline::after(1h)));
  settle();
  EXPECT_EQ(refused_, std::vector{ErrorCode::kOverloaded});
  EXPECT_EQ(retry_after_s_, 1);
  until.wake();
  settle();
  second.wake();
  settle();
  EXPECT_EQ(served_, (std::vector{0, 1}));
}

TEST_F(PlacesTest, TheDeadlineEndsTheWait) {
  const auto places = make(1, 8);
  io::Waiter until(loop_.get_executor()), third(loop_.get_executor());
  spawn(visit(places, 0, until, io::Deadline::after(1h)));
  settle();
  spawn(visit(places, 1, until, io::Deadline::after(0s)));
  spawn(visit(places, 2, third, io::Deadline::after(1h)));
  loop_.restart();
  while (refused_.empty()) loop_.run_one();
  EXPECT_EQ(refused_, std::vector{ErrorCode::kDeadline});
  EXPECT_EQ(queue_depth_.value(), 1);
  until.wake();
  settle();
  EXPECT_EQ(served_, (std::vector{0, 2}));
  third.wake();
  settle();
  EXPECT_EQ(in_flight_.value(), 0);
}

TEST_F(PlacesTest, ACancelledWaiterLeavesNothingBehind) {
  const auto places = make(1, 8);
  io::Waiter until(loop_.get_executor()), never(loop_.get_executor());
  spawn(visit(places, 0, until, io::Deadline::after(1h)));
  settle();
  boost::asio::cancellation_signal cancel;
  boost::asio::co_spawn(loop_, visit(places, 1, never, io::Deadline::after(1h)),
                        boost::asio::bind_cancellation_slot(cancel.slot(), boost::asio::detached));
  settle();
  EXPECT_EQ(queue_depth_.value(), 1);
  cancel.emit(boost::asio::cancellation_type::terminal);
  settle();
  EXPECT_EQ(queue_depth_.value(), 0);
  until.wake();
  settle();
  EXPECT_EQ(in_flight_.value(), 0);
}

TEST_F(PlacesTest, AGrantThatNobodyTakesGoesToTheNext) {
  const auto places = make(1, 8);
  io::Waiter until(loop_.get_executor()), third(loop_.get_executor());
  spawn(visit(places, 0, until, io::Deadline::after(1h)));
  settle();
  {
    // The second waits on a loop that is destroyed before it hears of its place.
    boost::asio::io_context gone;
    io::Waiter never(gone.get_executor());
    boost::asio::co_spawn(gone, visit(places, 1, never, io::Deadline::after(1h)), boost::asio::detached);
    gone.poll();
    spawn(visit(places, 2, third, io::Deadline::after(1h)));
    settle();
    until.wake();
    settle();
    EXPECT_EQ(served_, std::vector{0});
  }
  settle();
  EXPECT_EQ(served_, (std::vector{0, 2}));
  third.wake();
  settle();
  EXPECT_EQ(in_flight_.value(), 0);
  EXPECT_EQ(queue_depth_.value(), 0);
}

io::Task<void> take_often(std::shared_ptr<Places> places, std::atomic<int>& inside, std::atomic<int>& most) {
  for (int i = 0; i < 200; ++i) {
    auto place = co_await places->take(io::Deadline::after(1h));
    if (!place) co_return;
    const int now = ++inside;
    int seen = most.load();
    while (now > seen && !most.compare_exchange_weak(seen, now)) {
    }
    io::Waiter pause(co_await boost::asio::this_coro::executor);
    co_await pause.wait(std::chrono::steady_clock::now());
    --inside;
  }
}

TEST_F(PlacesTest, LoopsShareThem) {
  const auto places = make(3, 1000);
  std::atomic<int> inside = 0, most = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      boost::asio::io_context loop;
      for (int i = 0; i < 4; ++i) {
        boost::asio::co_spawn(loop, take_often(places, inside, most), boost::asio::detached);
      }
      loop.run();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_LE(most.load(), 3);
  EXPECT_EQ(in_flight_.value(), 0);
  EXPECT_EQ(queue_depth_.value(), 0);
}

}  // namespace
}  // namespace hengshi::upstream
