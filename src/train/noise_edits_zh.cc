// noise_edits_zh.cc — errors in Chinese: of input methods, of the eye, of the ear.

#include "text/simplify.h"
#include "text/utf8.h"
#include "train/noise_edits.h"

namespace hengshi::train {

namespace {

constexpr size_t kFewest = 3;  // characters: of a shorter text none is dropped

bool open_han(const Place& place, size_t i) { return place.open(i) && text::is_han(place.text[i]); }

size_t draw(Rng& rng, size_t count, auto&& weight) {
  float total = 0;
  for (size_t i = 0; i < count; ++i) total += weight(i);
  float left = rng.uniform() * total;
  for (size_t i = 0; i + 1 < count; ++i) {
    left -= weight(i);
    if (left < 0) return i;
  }
  return count - 1;
}

std::optional<uint32_t> syllable_of(const NoiseTables& tables, char32_t c, Rng& rng) {
  const auto it = tables.readings.find(text::simplify(c));
  if (it == tables.readings.end()) return std::nullopt;
  const auto& readings = it->second;
  return readings[draw(rng, readings.size(), [&](size_t i) { return readings[i].second; })].first;
}

std::u32string character_of(const NoiseTables& tables, uint32_t syllable, Rng& rng) {
  const auto& members = tables.characters[syllable];
  return {members[draw(rng, members.size(), [&](size_t i) { return members[i].weight; })].character};
}

Edited homophone(const NoiseTables& tables, const Place& place, Rng& rng) {
  const auto syllable = syllable_of(tables, place.text[place.at], rng);
  if (!syllable || tables.characters[*syllable].size() < 2) return std::nullopt;
  return spliced(place.text, place.at, 1, character_of(tables, *syllable, rng));
}

Edited near_homophone(const NoiseTables& tables, const Place& place, Rng& rng) {
  const auto syllable = syllable_of(tables, place.text[place.at], rng);
  if (!syllable || tables.near[*syllable].empty()) return std::nullopt;
  const auto& near = tables.near[*syllable];
  return spliced(place.text, place.at, 1, character_of(tables, near[rng.below(near.size())], rng));
}

Edited similar_shape(const NoiseTables& tables, const Place& place, Rng& rng) {
  const auto it = tables.alike.find(text::simplify(place.text[place.at]));
  if (it == tables.alike.end()) return std::nullopt;
  return spliced(place.text, place.at, 1, {it->second[rng.below(it->second.size())]});
}

Edited split(const NoiseTables& tables, const Place& place, Rng& rng) {
  const auto syllable = syllable_of(tables, place.text[place.at], rng);
  if (!syllable || tables.halves[*syllable].empty()) return std::nullopt;
  const auto& [first, second] = tables.halves[*syllable][rng.below(tables.halves[*syllable].size())];
  return spliced(place.text, place.at, 1, character_of(tables, first, rng) + character_of(tables, second, rng));
}

Edited merged(const NoiseTables& tables, const Place& place, Rng& rng) {
  if (!open_han(place, place.at + 1)) return std::nullopt;
  const auto first = syllable_of(tables, place.text[place.at], rng);
  const auto second = syllable_of(tables, place.text[place.at + 1], rng);
  if (!first || !second) return std::nullopt;
  const auto whole = tables.joined.find(uint64_t{*first} << 32 | *second);
  if (whole == tables.joined.end()) return std::nullopt;
  return spliced(place.text, place.at, 2, character_of(tables, whole->second, rng));
}

// The whole text from here on and before: who writes one character in the traditional way writes all so.
Edited traditional(const NoiseTables& tables, const Place& place) {
  std::u32string out = place.text;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto it = tables.traditional.find(out[i]);
    if (place.open(i) && it != tables.traditional.end()) out[i] = it->second;
  }
  return out;
}

Edited borrowed(const NoiseTables& tables, const Place& place) {
  const auto words = tables.borrowed.find(place.text[place.at]);
  if (words == tables.borrowed.end()) return std::nullopt;
  for (const auto& [chinese, english] : words->second) {
    if (place.text.compare(place.at, chinese.size(), chinese) == 0) {
      return spliced(place.text, place.at, chinese.size(), english);
    }
  }
  return std::nullopt;
}

}  // namespace

Edited edit_chinese(NoiseKind kind, const NoiseTables& tables, const Place& place, Rng& rng) {
  if (kind == NoiseKind::kFullWidth) return to_full_width(place);
  if (kind == NoiseKind::kTraditional) return traditional(tables, place);
  if (kind == NoiseKind::kFiller) {
    return spliced(place.text, place.at, 0, tables.fillers[rng.below(tables.fillers.size())]);
  }
  if (!open_han(place, place.at)) return std::nullopt;
  const std::u32string here{place.text[place.at]};
  switch (kind) {
    case NoiseKind::kHomophone: return homophone(tables, place, rng);
    case NoiseKind::kNearHomophone: return near_homophone(tables, place, rng);
    case NoiseKind::kSimilarShape: return similar_shape(tables, place, rng);
    case NoiseKind::kDropped:
      if (place.text.size() < kFewest) return std::nullopt;
      return spliced(place.text, place.at, 1, {});
    case NoiseKind::kDoubled: return spliced(place.text, place.at, 0, here);
    case NoiseKind::kSwapped:
      // What stands right behind a negation is what it negates.
      if (!open_han(place, place.at + 1) || (place.at > 0 && !place.open(place.at - 1))) return std::nullopt;
      return spliced(place.text, place.at, 2, place.text[place.at + 1] + here);
    case NoiseKind::kBorrowedWord: return borrowed(tables, place);
    case NoiseKind::kSplit: return split(tables, place, rng);
    case NoiseKind::kMerged: return merged(tables, place, rng);
    default: return std::nullopt;
  }
}

}  // namespace hengshi::train
