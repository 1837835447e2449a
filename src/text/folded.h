// folded.h — a text folded for reading, of which every stretch can be found again as it was written.
//
// Shapes:  `text` is near the normal form (case, width, traditional characters, spaces beside Han characters), but
//          folds character by character; where[i] is where the character of `source` begins that text[i] stands for.
// Errors:  none: ill-formed bytes read as U+FFFD.
// Threads: value; `source` must outlive it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hengshi::text {

struct Folded {
  std::string text;
  std::vector<uint32_t> where;
  std::string_view source;

  std::string_view written(size_t begin, size_t end) const;  // as it stands in `source`; begin < end
};

Folded fold(std::string_view source);

}  // namespace hengshi::text
