#include "light/features.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"

namespace hengshi::light {

namespace {

constexpr uint32_t kCharacterKind = 1;

uint32_t hash_of(std::string_view bytes, uint32_t kind) {  // FNV-1a, finished so that its low bits are mixed too
  uint64_t h = 0xcbf29ce484222325ULL ^ kind;
  for (const char c : bytes) h = (h ^ static_cast<uint8_t>(c)) * 0x100000001b3ULL;
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  h ^= h >> 32;
  return (static_cast<uint32_t>(h) & ~1U) | kind;
}

bool starts_character(char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }

// Ends of the characters of `s`, as byte offsets; broken UTF-8 just gives odd characters.
void character_ends(std::string_view s, std::vector<size_t>& out) {
  out.clear();
  for (size_t i = 1; i <= s.size(); ++i) {
    if (i == s.size() || starts_character(s[i])) out.push_back(i);
  }
}

void characters(std::string_view s, size_t shortest, size_t longest, std::vector<size_t>& ends, Grams& out) {
  character_ends(s, ends);
  for (size_t first = 0; first < ends.size(); ++first) {
    const size_t from = first == 0 ? 0 : ends[first - 1];
    for (size_t n = shortest; n <= longest && first + n <= ends.size(); ++n) {
      out.push_back(hash_of(s.substr(from, ends[first + n - 1] - from), kCharacterKind));
    }
  }
}

void words(std::string_view s, std::vector<size_t>& ends, Grams& out) {
  std::string bordered;
  for (size_t at = 0, previous = 0; at < s.size();) {
    const size_t end = std::min(s.find(' ', at), s.size());
    if (end > at) {
      out.push_back(hash_of(s.substr(at, end - at), 0));
      if (previous != at) out.push_back(hash_of(s.substr(previous, end - previous), 0));
      bordered.assign(1, ' ').append(s.substr(at, end - at)).push_back(' ');
      characters(bordered, 2, 5, ends, out);
      previous = at;
    }
    at = end + 1;
  }
}

}  // namespace

void extract_grams(std::string_view normalised, text::Language language, Grams& out) {
  out.clear();
  thread_local std::vector<size_t> ends;
  if (language == text::Language::kChinese) {
    characters(normalised, 1, 3, ends, out);
  } else {
    words(normalised, ends, out);
  }
}

Vocabulary::Vocabulary(std::vector<uint32_t> hashes, std::vector<float> idf)
    : hashes_(std::move(hashes)), idf_(std::move(idf)) {
  CHECK(hashes_.size() == idf_.size(), "every gram has its idf");
}

Vocabulary Vocabulary::fit(std::span<const Grams> documents, size_t limit) {
  std::vector<uint32_t> all;
  for (const Grams& document : documents) {
    Grams once = document;
    std::sort(once.begin(), once.end());
    once.erase(std::unique(once.begin(), once.end()), once.end());
    all.insert(all.end(), once.begin(), once.end());
  }
  std::sort(all.begin(), all.end());
  std::vector<std::pair<uint32_t, uint32_t>> counted;  // documents, hash
  for (size_t i = 0; i < all.size();) {
    size_t j = i;
    while (j < all.size() && all[j] == all[i]) ++j;
    counted.emplace_back(static_cast<uint32_t>(j - i), all[i]);
    i = j;
  }
  if (counted.size() > limit) {
    std::sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    counted.resize(limit);
  }
  std::sort(counted.begin(), counted.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::vector<uint32_t> hashes;
  std::vector<float> idf;
  for (const auto& [count, hash] : counted) {
    hashes.push_back(hash);
    idf.push_back(std::log((1.0F + static_cast<float>(documents.size())) / (1.0F + static_cast<float>(count))) + 1.0F);
  }
  return {std::move(hashes), std::move(idf)};
}

void Vocabulary::weigh(Grams& grams, Sparse& out) const {
  out.rows.clear();
  out.values.clear();
  std::sort(grams.begin(), grams.end());
  float squares[2] = {0, 0};
  size_t unknown = 0;
  auto from = hashes_.begin();
  for (size_t i = 0; i < grams.size();) {
    size_t j = i;
    while (j < grams.size() && grams[j] == grams[i]) ++j;
    from = std::lower_bound(from, hashes_.end(), grams[i]);
    if (from != hashes_.end() && *from == grams[i]) {
      const auto row = static_cast<size_t>(from - hashes_.begin());
      const float value = (1.0F + std::log(static_cast<float>(j - i))) * idf_[row];
      out.rows.push_back(static_cast<uint32_t>(row));
      out.values.push_back(value);
      squares[grams[i] & kCharacterKind] += value * value;
    } else {
      unknown += j - i;
    }
    i = j;
  }
  out.unknown = grams.empty() ? 1.0F : static_cast<float>(unknown) / static_cast<float>(grams.size());
  const float kinds = squares[0] > 0 && squares[1] > 0 ? 2.0F : 1.0F;
  float scale[2] = {};
  for (size_t kind = 0; kind < 2; ++kind) scale[kind] = squares[kind] > 0 ? 1.0F / std::sqrt(kinds * squares[kind]) : 0;
  for (size_t i = 0; i < out.rows.size(); ++i) out.values[i] *= scale[hashes_[out.rows[i]] & kCharacterKind];
}

}  // namespace hengshi::light
