// noise_meaning.h — what an error in a question may not touch: digits, numbers in words, ids and negations.
//
// Shapes:  kept [characters]: 1 for a character of such a span.
// Errors:  invalid UTF-8 reads as U+FFFD.
// Threads: pure.
// Source:  text/lexicon.h for negations and opposites; docs/decisions/0011-noise.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hengshi::train {

std::u32string characters_of(std::string_view bytes);
std::string bytes_of(const std::u32string& characters);

struct Meaning {
  std::vector<uint8_t> kept;
  std::string fixed;                       // negations, numbers and ids, in order
  std::vector<std::string_view> polarity;  // ends of pairs (on, off) and dates, sorted
};

Meaning read_meaning(const std::u32string& text);

// True when nothing fixed came, went or moved and no end of a pair appeared: 关 may turn into a harmless 官, 末 never
// into 未 and 买 never into 卖.
bool same_meaning(const Meaning& before, const Meaning& after);

}  // namespace hengshi::train
