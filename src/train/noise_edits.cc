#include "train/noise_edits.h"

namespace hengshi::train {

std::u32string spliced(const std::u32string& text, size_t at, size_t count, const std::u32string& with) {
  std::u32string out = text.substr(0, at);
  return out.append(with).append(text, at + count, std::u32string::npos);
}

bool is_latin(char32_t c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

Edited to_full_width(const Place& place) {
  const auto can = [&](size_t i) { return place.open(i) && (is_latin(place.text[i]) || place.text[i] == '?'); };
  if (!can(place.at) || (place.at > 0 && is_latin(place.text[place.at - 1]))) return std::nullopt;
  std::u32string out = place.text;
  for (size_t i = place.at; can(i); ++i) out[i] += 0xFEE0;
  return out;
}

}  // namespace hengshi::train
