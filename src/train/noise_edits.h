// noise_edits.h — one error at one place, kind by kind; noise.cc chooses the place and checks what came out.
//
// Shapes:  characters; `at` < text.size().
// Errors:  nothing where the kind has no business at this place.
// Threads: pure but for the Rng.
#pragma once

#include <optional>
#include <string>

#include "train/noise.h"
#include "train/noise_meaning.h"
#include "train/noise_tables.h"

namespace hengshi::train {

struct Place {
  const std::u32string& text;
  const Meaning& meaning;
  size_t at = 0;

  bool open(size_t i) const { return i < text.size() && meaning.kept[i] == 0; }
};

using Edited = std::optional<std::u32string>;

Edited edit_chinese(NoiseKind kind, const NoiseTables& tables, const Place& place, Rng& rng);
Edited edit_english(NoiseKind kind, const NoiseTables& tables, const Place& place, Rng& rng);

// Shared by both languages.
std::u32string spliced(const std::u32string& text, size_t at, size_t count, const std::u32string& with);
bool is_latin(char32_t c);
Edited to_full_width(const Place& place);  // the Latin word or the mark at this place

}  // namespace hengshi::train
