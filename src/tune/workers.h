// workers.h — the two halves of a step, each on a thread of its own.
//
// Threads: work(0) and work(1) run at once; the split is fixed, so that the result never depends on timing.
#pragma once

#include <cstddef>
#include <thread>

namespace hengshi::tune {

inline constexpr size_t kWorkers = 2;

template <typename Work>
void both(const Work& work) {
  const std::jthread other([&] { work(size_t{1}); });
  work(size_t{0});
}

}  // namespace hengshi::tune
