#include "nn/vocabulary.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace hengshi::nn {

namespace {

uint64_t hash(std::string_view piece, bool continuing) {  // FNV-1a, folded: pieces are a few bytes long
  uint64_t h = continuing ? 0x9E3779B97F4A7C15U : 0xCBF29CE484222325U;
  for (const char c : piece) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001B3U;
  return h ^ (h >> 32);
}

}  // namespace

Vocabulary::Vocabulary(size_t capacity) : slots_(std::bit_ceil(2 * capacity + 1)) {}

size_t Vocabulary::slot_of(std::string_view piece, bool continuing) const {
  const size_t mask = slots_.size() - 1;
  size_t at = hash(piece, continuing) & mask;
  while (slots_[at].id != kNone) {
    const Slot& slot = slots_[at];
    if (slot.continuing == continuing && piece == std::string_view(bytes_).substr(slot.offset, slot.length)) break;
    at = (at + 1) & mask;
  }
  return at;
}

void Vocabulary::add(std::string_view piece, bool continuing, int32_t id) {
  if (piece.size() > std::numeric_limits<uint16_t>::max()) return;  // longer than any word that is looked up
  Slot& slot = slots_[slot_of(piece, continuing)];
  if (slot.id != kNone) return;
  slot = {static_cast<uint32_t>(bytes_.size()), static_cast<uint16_t>(piece.size()), continuing, id};
  bytes_ += piece;
  longest_ = std::max(longest_, piece.size());
  ++size_;
}

int32_t Vocabulary::find(std::string_view piece, bool continuing) const {
  return slots_[slot_of(piece, continuing)].id;
}

}  // namespace hengshi::nn
