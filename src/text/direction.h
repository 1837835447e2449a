// direction.h — what stands left and right of a word that points from one thing to another: 西安到重庆, word to pdf.
//
// Errors:  none.
// Threads: free functions, any thread.
// Source:  docs/decisions/0005-guards.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hengshi::text {

struct Direction {
  std::string left, right;  // up to a few characters or words
};

std::vector<Direction> read_directions(std::string_view normalised);

// One points from x to y where the other points from y to x. A plain change of word order is none.
bool reversed(const std::vector<Direction>& a, const std::vector<Direction>& b);

}  // namespace hengshi::text
