// vocabulary.h — word pieces to ids, in one block of memory.
//
// Shapes:  a piece is bytes and whether it continues a word ("##ing" is kept as "ing", continuing).
// Errors:  find() answers kNone for what is not there.
// Threads: immutable once filled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hengshi::nn {

class Vocabulary {
 public:
  static constexpr int32_t kNone = -1;

  // One call per piece, at most `capacity` in all; of two equal pieces the first stays.
  explicit Vocabulary(size_t capacity);
  void add(std::string_view piece, bool continuing, int32_t id);

  int32_t find(std::string_view piece, bool continuing) const;
  size_t longest() const { return longest_; }  // bytes of the longest piece
  size_t size() const { return size_; }
  size_t memory_bytes() const { return bytes_.capacity() + slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    uint32_t offset = 0;
    uint16_t length = 0;
    bool continuing = false;
    int32_t id = kNone;
  };
  size_t slot_of(std::string_view piece, bool continuing) const;

  std::string bytes_;
  std::vector<Slot> slots_;  // open addressing, at most half full, a power of two
  size_t longest_ = 0;
  size_t size_ = 0;
};

}  // namespace hengshi::nn
