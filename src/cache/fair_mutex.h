// fair_mutex.h — many readers or one writer, where a stream of readers cannot keep the writer out.
//
// Threads: any. With std::shared_lock and std::unique_lock.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace hengshi::cache {

class FairMutex {
 public:
  void lock() {
    const std::lock_guard gate(gate_);  // from here on new readers queue behind the writer
    mutex_.lock();
  }
  void unlock() { mutex_.unlock(); }
  void lock_shared() {
    const std::lock_guard gate(gate_);
    mutex_.lock_shared();
  }
  void unlock_shared() { mutex_.unlock_shared(); }

 private:
  std::mutex gate_;
  std::shared_mutex mutex_;
};

}  // namespace hengshi::cache
