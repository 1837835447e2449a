#include "train/noise_tables.h"

#include <opencc.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>

#include "train/noise_meaning.h"

namespace hengshi::train {

namespace {

template <typename F>
void for_each_token(std::string_view table, const F& f) {
  for (size_t at = 0; at < table.size();) {
    const size_t end = std::min(table.find_first_of(" \n", at), table.size());
    if (end > at) f(table.substr(at, end - at));
    at = end + 1;
  }
}

std::u32string spaced(std::string_view word) {
  std::u32string out = characters_of(word);
  std::replace(out.begin(), out.end(), U'_', U' ');
  return out;
}

// A homophone is chosen by how common it is, flattened: a rare one is typed now and then.
float weight_of(char32_t digit) { return std::exp2(0.85F * static_cast<float>(digit - U'0')); }

void read_sounds(NoiseTables& tables) {
  std::map<std::string, uint32_t> numbers;
  for_each_token(han_by_sound(), [&](std::string_view token) {
    const size_t letters = std::min(token.find_first_not_of("abcdefghijklmnopqrstuvwxyz"), token.size());
    const std::string syllable(token.substr(0, letters));
    const auto [number, fresh] = numbers.emplace(syllable, static_cast<uint32_t>(tables.syllables.size()));
    if (fresh) {
      tables.syllables.push_back(syllable);
      tables.characters.emplace_back();
    }
    const std::u32string members = characters_of(token.substr(letters));
    for (size_t i = 0; i + 1 < members.size(); i += 2) {
      const float weight = weight_of(members[i + 1]);
      tables.characters[number->second].push_back({members[i], weight});
      tables.readings[members[i]].emplace_back(number->second, weight);
    }
  });
}

// Each syllable as the ways it may be misheard or mistyped by those who do not tell the two sounds apart.
std::vector<std::string> near_spellings(const std::string& syllable) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kFirst = {
      {{"zh", "z"}, {"ch", "c"}, {"sh", "s"}, {"n", "l"}, {"l", "r"}, {"h", "f"}}};
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kLast = {
      {{"ing", "in"}, {"eng", "en"}, {"ang", "an"}}};
  std::vector<std::string> out;
  for (const auto& [a, b] : kFirst) {
    if (syllable.starts_with(a)) out.push_back(std::string(b) + syllable.substr(a.size()));
    if (syllable.starts_with(b)) out.push_back(std::string(a) + syllable.substr(b.size()));
  }
  for (const auto& [a, b] : kLast) {
    if (syllable.ends_with(a)) out.push_back(syllable.substr(0, syllable.size() - a.size()).append(b));
    if (syllable.ends_with(b)) out.push_back(syllable.substr(0, syllable.size() - b.size()).append(a));
  }
  return out;
}

void relate_syllables(NoiseTables& tables) {
  std::map<std::string_view, uint32_t> numbers;
  for (uint32_t i = 0; i < tables.syllables.size(); ++i) numbers[tables.syllables[i]] = i;
  tables.near.resize(tables.syllables.size());
  tables.halves.resize(tables.syllables.size());
  for (uint32_t i = 0; i < tables.syllables.size(); ++i) {
    const std::string& whole = tables.syllables[i];
    for (const std::string& other : near_spellings(whole)) {
      if (const auto it = numbers.find(other); it != numbers.end()) tables.near[i].push_back(it->second);
    }
    for (size_t cut = 1; cut < whole.size(); ++cut) {
      const auto first = numbers.find(whole.substr(0, cut)), second = numbers.find(whole.substr(cut));
      if (first == numbers.end() || second == numbers.end()) continue;
      tables.halves[i].emplace_back(first->second, second->second);
      tables.joined[uint64_t{first->second} << 32 | second->second] = i;
    }
  }
}

void read_shapes(NoiseTables& tables) {
  for_each_token(han_by_shape(), [&](std::string_view token) {
    const std::u32string characters = characters_of(token);
    tables.alike[characters[0]] = characters.substr(1);
  });
}

// One character a line through the converter, so that no phrase rule joins two. Without OpenCC's files: no such kind.
void read_traditional(NoiseTables& tables) {
  std::string in;
  std::u32string order;
  for (const auto& [character, readings] : tables.readings) order += character;
  std::sort(order.begin(), order.end());
  for (const char32_t c : order) in += bytes_of({c}) + '\n';
  const opencc_t converter = opencc_open("s2t.json");
  if (reinterpret_cast<std::intptr_t>(converter) == -1) return;
  char* converted = opencc_convert_utf8(converter, in.data(), in.size());
  const std::u32string out = converted == nullptr ? std::u32string() : characters_of(converted);
  if (converted != nullptr) opencc_convert_utf8_free(converted);
  opencc_close(converter);
  for (size_t i = 0; i < order.size() && out.size() == 2 * order.size(); ++i) {
    if (out[2 * i] != order[i]) tables.traditional[order[i]] = out[2 * i];
  }
}

void read_borrowed(NoiseTables& tables) {
  for_each_token(borrowed_words(), [&](std::string_view token) {
    const size_t equals = token.find('=');
    const std::u32string chinese = characters_of(token.substr(0, equals));
    tables.borrowed[chinese[0]].emplace_back(chinese, characters_of(token.substr(equals + 1)));
  });
  for (auto& [first, words] : tables.borrowed) {
    std::sort(words.begin(), words.end(), [](const auto& a, const auto& b) {  // the longest first
      return std::pair(b.first.size(), a.first) < std::pair(a.first.size(), b.first);
    });
  }
}

void read_english(NoiseTables& tables) {
  for_each_token(neighbouring_keys(), [&](std::string_view token) {
    const std::u32string keys = characters_of(token);
    tables.keys[keys[0]] = keys.substr(1);
  });
  for_each_token(misheard_words(), [&](std::string_view token) {
    std::vector<std::u32string> group;
    for (size_t at = 0; at <= token.size();) {
      const size_t end = std::min(token.find('/', at), token.size());
      group.push_back(characters_of(token.substr(at, end - at)));
      at = end + 1;
    }
    for (const std::u32string& word : group) {
      for (const std::u32string& other : group) {
        if (other != word) tables.misheard[word].push_back(other);
      }
    }
  });
}

}  // namespace

NoiseTables build_noise_tables(text::Language language) {
  NoiseTables tables;
  tables.language = language;
  for_each_token(spoken_fillers(language), [&](std::string_view word) { tables.fillers.push_back(spaced(word)); });
  if (language == text::Language::kChinese) {
    read_sounds(tables);
    relate_syllables(tables);
    read_shapes(tables);
    read_traditional(tables);
    read_borrowed(tables);
  } else {
    read_english(tables);
  }
  return tables;
}

}  // namespace hengshi::train
