#include "app/nearest.h"

#include <algorithm>

namespace hengshi::app {

namespace {

constexpr size_t kFar = 4;  // edits; beyond it a guess would only puzzle

// Levenshtein's.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j < row.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest(std::string_view name, const std::vector<std::string_view>& known) {
  std::string_view likely;
  size_t best = kFar;
  for (const auto candidate : known) {
    const size_t edits = edit_distance(name, candidate);
    if (edits >= best || edits >= candidate.size()) continue;
    best = edits;
    likely = candidate;
  }
  return likely;
}

}  // namespace hengshi::app
