#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "light/features.h"
#include "train/pack_lint_parts.h"

namespace hengshi::train {

namespace {

constexpr size_t kVocabulary = 1 << 18;
constexpr size_t kTelling = 8;       // of a row's grams, the rarest, by which its like is looked for
constexpr size_t kCrowded = 64;      // rows of one gram that are looked at: the time stays linear
constexpr float kNearlySame = 0.9F;  // cosine of two rows' n-grams

float cosine(const light::Sparse& a, const light::Sparse& b) {
  float sum = 0;
  for (size_t i = 0, k = 0; i < a.rows.size() && k < b.rows.size();) {
    if (a.rows[i] == b.rows[k])
      sum += a.values[i++] * b.values[k++];
    else if (a.rows[i] < b.rows[k])
      ++i;
    else
      ++k;
  }
  return sum;
}

// The grams of a row that fewest rows share.
std::vector<uint32_t> telling(const light::Sparse& row, const std::vector<float>& idf) {
  std::vector<uint32_t> grams = row.rows;
  const size_t wanted = std::min(kTelling, grams.size());
  std::partial_sort(grams.begin(), grams.begin() + static_cast<long>(wanted), grams.end(),
                    [&](uint32_t a, uint32_t b) { return idf[a] != idf[b] ? idf[a] > idf[b] : a < b; });
  grams.resize(wanted);
  return grams;
}

struct Match {
  uint32_t row = 0;
  float cosine = 0;
};

// The nearest of the earlier rows that stands for something else.
Match nearest_stranger(const std::vector<LintRow>& rows, const std::vector<light::Sparse>& weighed, size_t i,
                       const std::vector<uint32_t>& candidates) {
  Match best;
  for (const uint32_t j : candidates) {
    if (rows[j].label == rows[i].label || rows[j].normalised == rows[i].normalised) continue;
    const float near = cosine(weighed[i], weighed[j]);
    if (near > best.cosine) best = {j, near};
  }
  return best;
}

}  // namespace

void check_near_duplicates(const LintRows& lint, std::vector<Finding>& out) {
  const std::vector<LintRow>& rows = lint.rows;
  std::vector<light::Grams> grams(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) light::extract_grams(rows[i].normalised, lint.language, grams[i]);
  const light::Vocabulary vocabulary = light::Vocabulary::fit(grams, kVocabulary);
  std::vector<light::Sparse> weighed(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) vocabulary.weigh(grams[i], weighed[i]);
  std::vector<std::vector<uint32_t>> holders(vocabulary.size());
  std::vector<uint32_t> candidates;
  for (size_t i = 0; i < rows.size(); ++i) {
    candidates.clear();
    for (const uint32_t gram : telling(weighed[i], vocabulary.idf())) {
      candidates.insert(candidates.end(), holders[gram].begin(), holders[gram].end());
      if (holders[gram].size() < kCrowded) holders[gram].push_back(static_cast<uint32_t>(i));
    }
    std::sort(candidates.begin(), candidates.end());
    candidates.erase(std::unique(candidates.begin(), candidates.end()), candidates.end());
    const Match match = nearest_stranger(rows, weighed, i, candidates);
    if (match.cosine < kNearlySame) continue;
    const LintRow& other = rows[match.row];
    const bool negative = std::max(rows[i].label, other.label) == lint.intents.size();
    out.push_back(
        {negative ? LintKind::kLeak : LintKind::kNearDuplicate, match.cosine, rows[i].where->file, rows[i].where->line,
         fmt::format("\"{}\" of {} is nearly \"{}\" of {}, in {}:{}", rows[i].where->text, lint.named(rows[i].label),
                     other.where->text, lint.named(other.label), other.where->file, other.where->line)});
  }
}

}  // namespace hengshi::train
