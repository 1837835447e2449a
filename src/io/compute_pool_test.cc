#include "io/compute_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "io/cancel.h"
#include "io/loopback.h"

namespace hengshi::io {
namespace {

Task<void> expect_run(ComputePool& pool, std::function<void()> work) {
  const auto done = co_await pool.run(std::move(work), Deadline(Monotonic::max()));
  EXPECT_TRUE(done.has_value());
}

TEST(ComputePool, RunsElsewhereAndResumesHere) {
  ComputePool pool(2, 8);
  boost::asio::io_context loop;
  const auto here = std::this_thread::get_id();
  std::thread::id there;
  const auto task = [&]() -> Task<void> {
    std::function<void()> work = [&] { there = std::this_thread::get_id(); };
    co_await expect_run(pool, std::move(work));
    EXPECT_EQ(std::this_thread::get_id(), here);
  };
  run_on(loop, task());
  EXPECT_NE(there, std::thread::id());
  EXPECT_NE(there, here);
}

TEST(ComputePool, AFullQueueAnswersOverloadedAtOnce) {
  std::promise<void> started;
  std::promise<void> gate;
  const auto open = gate.get_future().share();
  ComputePool pool(1, 1);
  boost::asio::io_context loop;
  std::atomic<int> ran = 0;
  std::optional<ErrorCode> refused;
  const auto call = [&](std::function<void()> work) -> Task<void> {
    const auto done = co_await pool.run(std::move(work), Deadline(Monotonic::max()));
    if (!done) refused = done.error().code;
  };
  const auto spawn = [&](std::function<void()> work) {
    boost::asio::co_spawn(loop.get_executor(), call(std::move(work)), [](const std::exception_ptr&) {});
    loop.poll();
  };
  spawn([&, open] {
    started.set_value();
    open.wait();
    ++ran;
  });
  started.get_future().wait();
  spawn([&] { ++ran; });
  EXPECT_FALSE(refused);
  spawn([&] { ++ran; });
  EXPECT_EQ(refused, ErrorCode::kOverloaded);
  gate.set_value();
  loop.run();
  EXPECT_EQ(ran, 2);
}

TEST(ComputePool, InteractiveWorkGoesFirstAndBulkWorkIsNotStarved) {
  std::promise<void> gate, started;
  const auto open = gate.get_future().share();
  ComputePool pool(1, 32);
  boost::asio::io_context loop;
  std::string order;  // the pool has one thread
  const auto call = [&](std::function<void()> work, Urgency urgency) -> Task<void> {
    const auto done = co_await pool.run(std::move(work), Deadline(Monotonic::max()), urgency);
    EXPECT_TRUE(done.has_value());
  };
  const auto spawn = [&](std::function<void()> work, Urgency urgency) {
    boost::asio::co_spawn(loop.get_executor(), call(std::move(work), urgency), [](const std::exception_ptr&) {});
    loop.poll();
  };
  spawn(
      [&, open] {
        started.set_value();
        open.wait();
      },
      Urgency::kBulk);
  started.get_future().wait();
  for (int i = 0; i < 3; ++i) spawn([&] { order += 'b'; }, Urgency::kBulk);
  for (int i = 0; i < 19; ++i) spawn([&] { order += 'i'; }, Urgency::kInteractive);
  gate.set_value();
  loop.run();
  EXPECT_EQ(order, "iiiiiiiibiiiiiiiibiiib");
}

TEST(ComputePool, AFullBulkQueueRefusesNoInteractiveWork) {
  std::promise<void> gate, started;
  const auto open = gate.get_future().share();
  ComputePool pool(1, 1);
  boost::asio::io_context loop;
  std::vector<std::string> ended;
  const auto call = [&](std::function<void()> work, Urgency urgency, std::string name) -> Task<void> {
    const auto done = co_await pool.run(std::move(work), Deadline(Monotonic::max()), urgency);
    ended.push_back(name + (done ? "" : " refused"));
  };
  const auto spawn = [&](std::function<void()> work, Urgency urgency, std::string name) {
    boost::asio::co_spawn(loop.get_executor(), call(std::move(work), urgency, std::move(name)),
                          [](const std::exception_ptr&) {});
    loop.poll();
  };
  spawn(
      [&, open] {
        started.set_value();
        open.wait();
      },
      Urgency::kBulk, "running");
  started.get_future().wait();
  spawn([] {}, Urgency::kBulk, "waiting");
  spawn([] {}, Urgency::kBulk, "one too many");
  spawn([] {}, Urgency::kInteractive, "question");
  gate.set_value();
  loop.run();
  EXPECT_EQ(ended, (std::vector<std::string>{"one too many refused", "running", "question", "waiting"}));
}

TEST(ComputePool, ACancelledCallerLeavesItsWorkRunning) {
  std::promise<void> gate;
  auto open = gate.get_future().share();
  std::promise<void> started, ended;
  ComputePool pool(1, 1);
  boost::asio::io_context loop;
  const auto task = [&]() -> Task<void> {
    const auto executor = co_await boost::asio::this_coro::executor;
    Cancellation cancellation;
    boost::asio::post(executor, [&] {
      started.get_future().wait();
      cancellation.request();
    });
    std::function<void()> work = [&, open] {
      started.set_value();
      open.wait();
      ended.set_value();
    };
    const auto done = co_await cancellation.guard(pool.run(std::move(work), Deadline(Monotonic::max())));
    EXPECT_FALSE(done.has_value());
    EXPECT_EQ(done.error().code, ErrorCode::kCancelled);
  };
  run_on(loop, task());
  gate.set_value();
  ended.get_future().wait();
}

TEST(ComputePool, TheDeadlineComesAlsoWhileWorkWaitsAndLateWorkIsDropped) {
  std::promise<void> gate, started;
  const auto open = gate.get_future().share();
  std::atomic<bool> ran = false;
  {
    ComputePool pool(1, 8);
    boost::asio::io_context loop;
    std::function<void()> busy = [&started, open] {
      started.set_value();
      open.wait();
    };
    boost::asio::co_spawn(loop.get_executor(), expect_run(pool, std::move(busy)), [](const std::exception_ptr&) {});
    loop.poll();
    started.get_future().wait();
    const auto task = [&]() -> Task<void> {
      std::function<void()> late = [&ran] { ran = true; };
      const auto done = co_await pool.run(std::move(late), Deadline::after(std::chrono::milliseconds(1)));
      EXPECT_EQ(done.error().code, ErrorCode::kDeadline);
      gate.set_value();
    };
    run_on(loop, task());
  }
  EXPECT_FALSE(ran);
}

TEST(ComputePool, WorkMayOutliveItsLoop) {
  std::promise<void> gate;
  auto open = gate.get_future().share();
  ComputePool pool(1, 1);
  {
    boost::asio::io_context loop;
    std::function<void()> work = [open] { open.wait(); };
    boost::asio::co_spawn(loop.get_executor(), expect_run(pool, std::move(work)), [](const std::exception_ptr&) {});
    loop.poll();
  }
  gate.set_value();
}

TEST(ComputePool, DestructionFinishesWhatWaits) {
  int ran = 0;
  boost::asio::io_context loop;
  {
    ComputePool pool(1, 16);
    for (int i = 0; i < 10; ++i) {
      std::function<void()> work = [&ran] { ++ran; };
      boost::asio::co_spawn(loop.get_executor(), expect_run(pool, std::move(work)), [](const std::exception_ptr&) {});
    }
    loop.poll();
  }
  EXPECT_EQ(ran, 10);
  loop.run();
}

}  // namespace
}  // namespace hengshi::io
