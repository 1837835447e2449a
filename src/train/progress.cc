#include "train/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace hengshi::train {

namespace {

constexpr size_t kWidth = 30;

}  // namespace

Progress::Progress(std::string what, size_t total, bool wanted)
    : what_(std::move(what)), total_(std::max<size_t>(total, 1)), shown_(wanted && ::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (shown_) fmt::print(stderr, "\r\033[K");
}

void Progress::advance(size_t by) {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  done_ = std::min(done_ + by, total_);
  draw();
}

void Progress::reach(size_t done, std::string note) {
  if (!shown_) return;
  const std::lock_guard lock(mutex_);
  done_ = std::min(done, total_);
  note_ = std::move(note);
  draw();
}

void Progress::draw() {
  const size_t percent = done_ * 100 / total_;
  if (percent == drawn_) return;
  drawn_ = percent;
  const size_t filled = done_ * kWidth / total_;
  fmt::print(stderr, "\r{:<28} [{:<30}] {:3}% {}\033[K", what_, std::string(filled, '='), percent, note_);
  std::fflush(stderr);
}

}  // namespace hengshi::train
