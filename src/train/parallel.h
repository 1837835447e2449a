// parallel.h — independent pieces of work on the cores there are; each piece gives the same result on any number.
//
// Threads: work(i) is called once for each i in [0, count), from several threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace hengshi::train {

template <typename Work>
void parallel_for(size_t count, const Work& work) {
  const size_t threads = std::min<size_t>(count, std::max(1U, std::thread::hardware_concurrency()));
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> pool;
  for (size_t i = 1; i < threads; ++i) pool.emplace_back(run);
  run();
}

}  // namespace hengshi::train
