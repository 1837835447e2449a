#include "app/nearest.h"

#include <algorithm>
#include <utility>

namespace hengshi::app {

namespace {

constexpr size_t kFar = 3;      // edits; beyond it a guess would only puzzle
constexpr size_t kPerEdit = 3;  // letters of the longer name that an edit needs beside it, so that "xy" is not "key"

// Levenshtein's, and two letters that changed places count as one edit.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
  std::string_view likely;
  size_t best = kFar + 1;
  for (const auto candidate : known) {
    const size_t edits = edit_distance(name, candidate);
    if (edits >= best || edits * kPerEdit > std::max(name.size(), candidate.size())) continue;
    best = edits;
    likely = candidate;
  }
  return likely;
}

}  // namespace hengshi::app
