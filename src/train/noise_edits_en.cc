// noise_edits_en.cc — errors in English: of the keyboard, and of speech recognisers.

#include <algorithm>

#include "train/noise_edits.h"

namespace hengshi::train {

namespace {

constexpr size_t kFewestLetters = 3;  // of a word that loses one or is broken

char32_t lower(char32_t c) { return c >= 'A' && c <= 'Z' ? c + 0x20 : c; }
bool is_apostrophe(char32_t c) { return c == '\'' || c == 0x2019; }
bool open_letter(const Place& place, size_t i) { return place.open(i) && is_latin(place.text[i]); }

struct Span {
  size_t from = 0, to = 0;
  size_t size() const { return to - from; }
};

Span word_at(const Place& place) {
  Span out{place.at, place.at};
  while (out.from > 0 && open_letter(place, out.from - 1)) --out.from;
  while (open_letter(place, out.to)) ++out.to;
  return out;
}

Edited neighbour_key(const NoiseTables& tables, const Place& place, Rng& rng) {
  const char32_t here = place.text[place.at];
  const auto keys = tables.keys.find(lower(here));
  if (keys == tables.keys.end()) return std::nullopt;
  const char32_t typed = keys->second[rng.below(keys->second.size())];
  return spliced(place.text, place.at, 1, {here == lower(here) ? typed : typed - 0x20});
}

Edited missing_space(const Place& place) {
  if (place.text[place.at] != ' ' || place.at == 0) return std::nullopt;
  if (!open_letter(place, place.at - 1) || !open_letter(place, place.at + 1)) return std::nullopt;
  return spliced(place.text, place.at, 1, {});
}

Edited letter_case(const Place& place, Rng& rng) {
  const Span word = word_at(place);
  const size_t count = rng.below(2) == 0 ? word.size() : std::min<size_t>(word.size(), 2);
  std::u32string out = place.text;
  for (size_t i = word.from; i < word.from + count; ++i) out[i] = lower(out[i]) - 0x20;
  return out;
}

// Left out of a word, or put before a last s.
Edited apostrophe(const Place& place) {
  if (is_apostrophe(place.text[place.at])) return spliced(place.text, place.at, 1, {});
  if (!open_letter(place, place.at) || lower(place.text[place.at]) != 's') return std::nullopt;
  const Span word = word_at(place);
  const bool ends = word.to == place.at + 1 && (word.to == place.text.size() || !is_apostrophe(place.text[word.to]));
  if (!ends || word.size() < kFewestLetters) return std::nullopt;
  return spliced(place.text, place.at, 0, U"'");
}

Edited filler(const NoiseTables& tables, const Place& place, Rng& rng) {
  const std::u32string& said = tables.fillers[rng.below(tables.fillers.size())];
  if (place.at == 0) return said + U" " + place.text;
  if (place.text[place.at] != ' ') return std::nullopt;
  return spliced(place.text, place.at, 0, U" " + said);
}

Edited misheard(const NoiseTables& tables, const Place& place, Rng& rng) {
  if (!open_letter(place, place.at)) return std::nullopt;
  Span word = word_at(place);
  if (word.from != place.at) return std::nullopt;
  while (place.open(word.to) && (is_latin(place.text[word.to]) || is_apostrophe(place.text[word.to]))) ++word.to;
  std::u32string said = place.text.substr(word.from, word.size());
  std::transform(said.begin(), said.end(), said.begin(),
                 [](char32_t c) { return is_apostrophe(c) ? U'\'' : lower(c); });
  const auto others = tables.misheard.find(said);
  if (others == tables.misheard.end()) return std::nullopt;
  return spliced(place.text, word.from, word.size(), others->second[rng.below(others->second.size())]);
}

Edited swapped(const Place& place) {
  if (!open_letter(place, place.at + 1)) return std::nullopt;
  return spliced(place.text, place.at, 2, {place.text[place.at + 1], place.text[place.at]});
}

}  // namespace

Edited edit_english(NoiseKind kind, const NoiseTables& tables, const Place& place, Rng& rng) {
  if (kind == NoiseKind::kFullWidth) return to_full_width(place);
  if (kind == NoiseKind::kFiller) return filler(tables, place, rng);
  if (!place.open(place.at)) return std::nullopt;
  if (kind == NoiseKind::kMissingSpace) return missing_space(place);
  if (kind == NoiseKind::kApostrophe) return apostrophe(place);
  if (kind == NoiseKind::kMisheard) return misheard(tables, place, rng);
  if (!is_latin(place.text[place.at])) return std::nullopt;
  const bool roomy = word_at(place).size() >= kFewestLetters;
  switch (kind) {
    case NoiseKind::kNeighbourKey: return neighbour_key(tables, place, rng);
    case NoiseKind::kLetterCase: return letter_case(place, rng);
    case NoiseKind::kDoubled: return spliced(place.text, place.at, 0, {place.text[place.at]});
    case NoiseKind::kSwapped: return swapped(place);
    case NoiseKind::kDropped: return roomy ? Edited(spliced(place.text, place.at, 1, {})) : std::nullopt;
    case NoiseKind::kSplit:
      if (!roomy || word_at(place).from == place.at) return std::nullopt;
      return spliced(place.text, place.at, 0, U" ");
    default: return std::nullopt;
  }
}

}  // namespace hengshi::train
