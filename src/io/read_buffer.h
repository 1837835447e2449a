// read_buffer.h — bytes read and not yet used, in one piece, because heads are parsed in one piece.
//
// Units:   bytes. It starts small, doubles while reads fill it, and shrinks between requests: idle connections are
//          many.
// Threads: one connection.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace hengshi::io {

class ReadBuffer {
 public:
  static constexpr size_t kSmall = size_t{8} << 10;
  explicit ReadBuffer(size_t limit) : limit_(std::max(limit, kSmall)) { allocate(kSmall); }

  std::string_view view() const { return {bytes_.get() + begin_, end_ - begin_}; }
  bool empty() const { return begin_ == end_; }

  // May be called while a read is under way: what that one writes to stays where it is.
  void consume(size_t n) {
    begin_ += n;
    if (empty() && !reading_) begin_ = end_ = 0;
  }

  void shrink() {
    if (reading_) return;
    if (empty() && size_ > kSmall) allocate(kSmall);
    full_ = false;
  }

  // Where the next read goes, which ends by commit(); empty when the limit is reached. Moves what is unread.
  std::span<char> prepare() {
    if (empty()) begin_ = end_ = 0;
    if (begin_ > 0 && end_ == size_) {
      std::memmove(bytes_.get(), bytes_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if ((full_ || end_ == size_) && size_ < limit_) allocate(std::min(2 * size_, limit_));
    full_ = false;
    reading_ = end_ < size_;
    return {bytes_.get() + end_, size_ - end_};
  }

  void commit(size_t n) {
    reading_ = false;
    end_ += n;
    full_ = end_ == size_;
  }

 private:
  void allocate(size_t size) {
    std::unique_ptr<char[]> bytes(new char[size]);  // Not zeroed: every byte of view() has been read.
    if (!empty()) std::memcpy(bytes.get(), bytes_.get() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    size_ = size;
    bytes_ = std::move(bytes);
  }

  size_t limit_;
  size_t size_ = 0;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool reading_ = false;
  bool full_ = false;  // the last read left no room: the next is likely to be as large
  std::unique_ptr<char[]> bytes_;
};

}  // namespace hengshi::io
