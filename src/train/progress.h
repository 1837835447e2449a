// progress.h — a bar on standard error while a person watches; silent when it is not a terminal.
//
// Threads: advance() from any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

namespace hengshi::train {

class Progress {
 public:
  Progress(std::string what, size_t total, bool wanted);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void advance(size_t by = 1);
  void reach(size_t done, std::string note);  // a word beside the bar

 private:
  void draw();

  std::mutex mutex_;
  std::string what_, note_;
  size_t done_ = 0, total_, drawn_ = 0;
  bool shown_;
};

}  // namespace hengshi::train
