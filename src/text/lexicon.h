// lexicon.h — the words that guards look for, in both languages.
//
// Shapes:  effects, separated by spaces: "!" negates; "+switch", "-switch" are two ends of one pair; "=day+1" is a
//          date or a time of day; none: the word is read past, so that a part of it is not mistaken for another word.
// Threads: tables are built at first use, then read only.
// Source:  our own tables; docs/decisions/0005-guards.md.
#pragma once

#include <optional>
#include <string_view>

namespace hengshi::text {

struct Word {
  std::string_view text;
  std::string_view effects;
};

// The longest Chinese word that starts at s[at].
std::optional<Word> chinese_word(std::string_view s, size_t at);

// An English word, inflections included ("disabled", "logging"), or a contraction ("don't").
std::optional<std::string_view> english_effects(std::string_view word);

// A phrase of several English words that starts at s[at] ("no matter").
std::optional<Word> english_phrase(std::string_view s, size_t at);

// The base of a verb that takes particles ("turning" -> "turn"), else empty; and what the two together do: "turn" …
// "off".
std::string_view particle_verb(std::string_view word);
std::optional<std::string_view> particle_effects(std::string_view verb, std::string_view particle);

}  // namespace hengshi::text
