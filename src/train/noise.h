// noise.h — questions as hurried people type and speak them: one text in, the same question with errors out.
//
// A question means afterwards what it meant before: digits, numbers, ids and negations stay as they are, no opposite and no
// date appears (noise_meaning.h), and what had a letter still has one.
//
// Shapes:  UTF-8 in, UTF-8 out.
// Errors:  load(): kInvalidRequest for a language without noise of its own. A text with nothing left to spoil comes back
//          as it was.
// Threads: immutable once loaded; the result depends on text, arguments and the state of the Rng only.
// Source:  docs/decisions/0011-noise.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/text.h"
#include "train/rng.h"

namespace hengshi::train {

enum class NoiseKind : uint8_t {
  kHomophone,      // zh  another character of the same syllable, whatever its tone
  kNearHomophone,  // zh  of a syllable that many do not tell apart: zh/z, n/l, in/ing
  kSimilarShape,   // zh  one that looks like it
  kNeighbourKey,   // en  the key beside
  kDropped,        //     a character (en: letter) is missing
  kDoubled,        //     one is there twice
  kSwapped,        //     two neighbours changed places
  kMissingSpace,   // en  two words run together
  kLetterCase,     // en  a shift key held too long, or caps lock
  kApostrophe,     // en  left out, or put in
  kTraditional,    // zh  written in traditional characters
  kFullWidth,      //     Latin letters and punctuation of full width
  kBorrowedWord,   // zh  an everyday word said in English
  kFiller,         //     嗯, um: what speakers say between words
  kMisheard,       // en  another word of the same sound
  kSplit,          //     as a recogniser splits: one syllable heard as two (zh), a word broken in two (en)
  kMerged,         // zh  two syllables heard as one
};

enum class NoiseMix : uint8_t {
  kTyping,  // what fingers and input methods do: from kHomophone to kApostrophe
  kAll,     // other ways of writing and speaking too
};

std::string_view noise_name(NoiseKind kind);  // "near_homophone"
bool is_typing_error(NoiseKind kind);

struct NoiseTables;

class Noise {
 public:
  static Result<Noise> load(text::Language language);

  // `errors` errors of the mix's kinds, each kind as often as it is met; fewer where the text leaves no room.
  std::string corrupt(std::string_view text, unsigned errors, NoiseMix mix, Rng& rng) const;

  // One error of this kind; nothing when the text offers no place for it.
  std::optional<std::string> corrupt_as(NoiseKind kind, std::string_view text, Rng& rng) const;

  std::vector<NoiseKind> kinds(NoiseMix mix) const;  // of the language

 private:
  explicit Noise(std::shared_ptr<const NoiseTables> tables) : tables_(std::move(tables)) {}

  std::shared_ptr<const NoiseTables> tables_;
};

}  // namespace hengshi::train
