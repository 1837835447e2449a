#include "train/noise.h"

#include <algorithm>
#include <array>

#include "train/noise_edits.h"
#include "train/noise_meaning.h"
#include "train/noise_tables.h"

namespace hengshi::train {

namespace {

constexpr size_t kPlaces = 96;  // tried for one error, from a random one on
constexpr int kDraws = 4;       // of a kind for one error, before every kind is tried in turn

struct Kind {
  std::string_view name;
  float chinese = 0, english = 0;  // how often it is met; 0: not in this language
};

constexpr std::array<Kind, 17> kKinds = {{{"homophone", 40, 0},
                                          {"near_homophone", 15, 0},
                                          {"similar_shape", 10, 0},
                                          {"neighbour_key", 0, 30},
                                          {"dropped", 12, 20},
                                          {"doubled", 11, 12},
                                          {"swapped", 12, 20},
                                          {"missing_space", 0, 10},
                                          {"letter_case", 0, 4},
                                          {"apostrophe", 0, 4},
                                          {"traditional", 4, 0},
                                          {"full_width", 3, 3},
                                          {"borrowed_word", 8, 0},
                                          {"filler", 12, 12},
                                          {"misheard", 0, 8},
                                          {"split", 6, 8},
                                          {"merged", 6, 0}}};

float weight_of(NoiseKind kind, text::Language language) {
  const Kind& one = kKinds[static_cast<size_t>(kind)];
  return language == text::Language::kChinese ? one.chinese : one.english;
}

bool has_letter(const std::u32string& text) {
  return std::any_of(text.begin(), text.end(), [](char32_t c) { return is_latin(c) || c >= 0x80; });
}

// Walks from a random place until the kind finds a place of its own whose outcome still means the same.
Edited edit_once(NoiseKind kind, const NoiseTables& tables, const std::u32string& text, const Meaning& meaning,
                 Rng& rng) {
  const size_t start = rng.below(text.size());
  for (size_t i = 0; i < std::min(text.size(), kPlaces); ++i) {
    const Place place{text, meaning, (start + i) % text.size()};
    Edited out = tables.language == text::Language::kChinese ? edit_chinese(kind, tables, place, rng)
                                                             : edit_english(kind, tables, place, rng);
    if (!out || *out == text || !has_letter(*out) || !same_meaning(meaning, read_meaning(*out))) continue;
    return out;
  }
  return std::nullopt;
}

Edited edit_any(const std::vector<NoiseKind>& kinds, const NoiseTables& tables, const std::u32string& text, Rng& rng) {
  const Meaning meaning = read_meaning(text);
  float total = 0;
  for (const NoiseKind kind : kinds) total += weight_of(kind, tables.language);
  for (int draw = 0; draw < kDraws; ++draw) {
    float left = rng.uniform() * total;
    size_t i = 0;
    while (i + 1 < kinds.size() && (left -= weight_of(kinds[i], tables.language)) >= 0) ++i;
    if (Edited out = edit_once(kinds[i], tables, text, meaning, rng)) return out;
  }
  for (const NoiseKind kind : kinds) {
    if (Edited out = edit_once(kind, tables, text, meaning, rng)) return out;
  }
  return std::nullopt;
}

}  // namespace

std::string_view noise_name(NoiseKind kind) { return kKinds[static_cast<size_t>(kind)].name; }

bool is_typing_error(NoiseKind kind) { return kind <= NoiseKind::kApostrophe; }

Result<Noise> Noise::load(text::Language language) {
  if (language == text::Language::kOther) {
    return fail(ErrorCode::kInvalidRequest, "there is noise for Chinese (zh) and English (en) only", "language");
  }
  return Noise(std::make_shared<const NoiseTables>(build_noise_tables(language)));
}

std::vector<NoiseKind> Noise::kinds(NoiseMix mix) const {
  std::vector<NoiseKind> out;
  for (size_t i = 0; i < kKinds.size(); ++i) {
    const auto kind = static_cast<NoiseKind>(i);
    if (weight_of(kind, tables_->language) > 0 && (mix == NoiseMix::kAll || is_typing_error(kind))) out.push_back(kind);
  }
  return out;
}

std::string Noise::corrupt(std::string_view text, unsigned errors, NoiseMix mix, Rng& rng) const {
  std::u32string now = characters_of(text);
  const std::vector<NoiseKind> of_mix = kinds(mix);
  unsigned made = 0;
  for (; made < errors && !now.empty(); ++made) {
    Edited next = edit_any(of_mix, *tables_, now, rng);
    if (!next) break;
    now = std::move(*next);
  }
  return made == 0 ? std::string(text) : bytes_of(now);
}

std::optional<std::string> Noise::corrupt_as(NoiseKind kind, std::string_view text, Rng& rng) const {
  const std::u32string now = characters_of(text);
  if (now.empty() || weight_of(kind, tables_->language) == 0) return std::nullopt;
  const Edited out = edit_once(kind, *tables_, now, read_meaning(now), rng);
  return out ? std::optional(bytes_of(*out)) : std::nullopt;
}

}  // namespace hengshi::train
