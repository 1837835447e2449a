// noise_tables.h — what is mistaken for what: the tables behind noise.h, as they are written and as the edits want them.
//
// Shapes:  han_by_sound(): tokens "syllable, then characters with a digit 0–9 of how common each is"; no tones.
//          han_by_shape(): tokens "a character, then those that look like it". Tokens end at a space or line end.
// Threads: constants; the built tables are immutable.
// Source:  Unihan 15.0.0 by tools/make_han_table.py; word lists of our own; OpenCC for traditional characters.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/text.h"

namespace hengshi::train {

std::string_view han_by_sound();
std::string_view han_by_shape();
std::string_view borrowed_words();  // "邮件=email …": what Chinese speakers say in English
std::string_view spoken_fillers(text::Language language);
std::string_view misheard_words();     // groups "there/their/they're …"
std::string_view neighbouring_keys();  // "aqwsz …": a key, then the keys beside it

struct Sounding {  // a character under a syllable
  char32_t character = 0;
  float weight = 0;  // how likely it is to be the one chosen
};

struct NoiseTables {
  text::Language language = text::Language::kOther;

  std::vector<std::string> syllables;
  std::vector<std::vector<Sounding>> characters;                   // [syllables]
  std::vector<std::vector<uint32_t>> near;                         // [syllables]: zh/z, n/l, in/ing …
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> halves;  // [syllables]: xian = xi + an
  std::unordered_map<uint64_t, uint32_t> joined;                   // first << 32 | second → syllable
  std::unordered_map<char32_t, std::vector<std::pair<uint32_t, float>>> readings;
  std::unordered_map<char32_t, std::u32string> alike;
  std::unordered_map<char32_t, char32_t> traditional;
  std::unordered_map<char32_t, std::vector<std::pair<std::u32string, std::u32string>>> borrowed;  // by first character

  std::vector<std::u32string> fillers;
  std::unordered_map<char32_t, std::u32string> keys;
  std::unordered_map<std::u32string, std::vector<std::u32string>> misheard;
};

NoiseTables build_noise_tables(text::Language language);

}  // namespace hengshi::train
