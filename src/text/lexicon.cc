#include "text/lexicon.h"

#include <algorithm>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "text/lexicon_tables.h"
#include "text/utf8.h"

namespace hengshi::text {

namespace {

struct Lexicon {
  std::deque<std::string> storage;                                  // composed effects and phrases; views stay valid
  std::unordered_map<char32_t, std::vector<Word>> chinese;          // by first character, longest first
  std::unordered_map<std::string_view, std::string_view> words;     // English
  std::unordered_map<std::string_view, std::vector<Word>> phrases;  // by first word, longest first
  std::unordered_map<std::string_view, std::vector<std::pair<std::string_view, std::string_view>>> particles;

  std::string_view keep(std::string s) { return storage.emplace_back(std::move(s)); }
  void add(std::string_view word, std::string_view effects);
  void add_all(std::string_view words, std::string_view effects);
  void add_pair(const Pair& pair);
  void add_particle(const Particle& particle);
};

template <typename F>
void for_each_word(std::string_view words, F f) {
  for (size_t at = 0; at < words.size();) {
    const size_t end = std::min(words.find(' ', at), words.size());
    if (end > at) f(words.substr(at, end - at));
    at = end + 1;
  }
}

void insert_longest_first(std::vector<Word>& list, Word word) {
  const auto longer = [&](const Word& w) { return w.text.size() > word.text.size(); };
  list.insert(std::partition_point(list.begin(), list.end(), longer), word);
}

// A word of two tables has both effects: 注销 ends a session and an account.
std::string_view merged(Lexicon& lexicon, std::string_view before, std::string_view more) {
  if (before.empty() || more.empty()) return "";
  return lexicon.keep(std::string(before) + ' ' + std::string(more));
}

void Lexicon::add(std::string_view word, std::string_view effects) {
  if (static_cast<uint8_t>(word[0]) >= 0x80) {
    auto& list = chinese[decode(word, 0).value];
    const auto same = std::find_if(list.begin(), list.end(), [&](const Word& w) { return w.text == word; });
    if (same != list.end()) {
      same->effects = merged(*this, same->effects, effects);
    } else {
      insert_longest_first(list, {word, effects});
    }
  } else if (const size_t gap = word.find('_'); gap != std::string_view::npos) {
    std::string spaced(word);
    std::replace(spaced.begin(), spaced.end(), '_', ' ');
    const std::string_view phrase = keep(std::move(spaced));
    insert_longest_first(phrases[phrase.substr(0, gap)], {phrase, effects});
  } else {
    const auto [it, fresh] = words.emplace(word, effects);
    if (!fresh) it->second = merged(*this, it->second, effects);
  }
}

void Lexicon::add_all(std::string_view list, std::string_view effects) {
  for_each_word(list, [&](std::string_view word) { add(word, effects); });
}

void Lexicon::add_pair(const Pair& pair) {
  add_all(pair.positive, keep('+' + std::string(pair.name)));
  add_all(pair.negative, keep('-' + std::string(pair.name)));
}

void Lexicon::add_particle(const Particle& particle) {
  for_each_word(particle.verbs,
                [&](std::string_view verb) { particles[verb].emplace_back(particle.particle, particle.effects); });
}

const Lexicon& lexicon() {
  static const Lexicon built = [] {
    Lexicon l;
    for (const Pair& pair : kPairs) l.add_pair(pair);
    for (const Particle& particle : kParticles) l.add_particle(particle);
    for (const Token& token : kTokens) l.add_all(token.words, token.token);
    l.add_all(kNegations, "!");
    l.add_all(kNeutral, "");
    return l;
  }();
  return built;
}

bool is_word_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '\''; }

// "disabled" -> "disabl", "disable"; "logging" -> "logg", "log", "logge". The first that `known` accepts.
template <typename F>
std::string_view stem(std::string_view word, std::string& scratch, F known) {
  if (known(word)) return word;
  for (const std::string_view suffix : {"ing", "ed", "es", "s", "d"}) {
    if (word.size() < suffix.size() + 3 || !word.ends_with(suffix)) continue;
    const std::string_view root = word.substr(0, word.size() - suffix.size());
    if (known(root)) return root;
    scratch.assign(root).append("e");
    if (known(scratch)) return scratch;
    if (root[root.size() - 1] == root[root.size() - 2] && known(root.substr(0, root.size() - 1))) {
      return root.substr(0, root.size() - 1);
    }
  }
  return {};
}

}  // namespace

std::optional<Word> chinese_word(std::string_view s, size_t at) {
  const auto list = lexicon().chinese.find(decode(s, at).value);
  if (list == lexicon().chinese.end()) return std::nullopt;
  for (const Word& word : list->second) {
    if (s.substr(at).starts_with(word.text)) return word;
  }
  return std::nullopt;
}

std::optional<std::string_view> english_effects(std::string_view word) {
  if (word.ends_with("n't")) return "!";
  const auto& words = lexicon().words;
  const auto exact = words.find(word);
  if (exact != words.end()) return exact->second;
  const auto inflects = [&](std::string_view w) {  // "notes" is no form of "not"
    const auto it = words.find(w);
    return it != words.end() && it->second != "!";
  };
  std::string scratch;
  const auto root = stem(word, scratch, inflects);
  if (root.empty()) return std::nullopt;
  return words.find(root)->second;
}

std::optional<Word> english_phrase(std::string_view s, size_t at) {
  size_t end = at;
  while (end < s.size() && is_word_byte(s[end])) ++end;
  const auto list = lexicon().phrases.find(s.substr(at, end - at));
  if (list == lexicon().phrases.end()) return std::nullopt;
  for (const Word& phrase : list->second) {
    const size_t after = at + phrase.text.size();
    if (s.substr(at).starts_with(phrase.text) && (after >= s.size() || !is_word_byte(s[after]))) return phrase;
  }
  return std::nullopt;
}

std::string_view particle_verb(std::string_view word) {
  const auto& particles = lexicon().particles;
  std::string scratch;
  const auto root = stem(word, scratch, [&](std::string_view w) { return particles.contains(w); });
  return root.empty() ? root : particles.find(root)->first;
}

std::optional<std::string_view> particle_effects(std::string_view verb, std::string_view particle) {
  const auto taken = lexicon().particles.find(verb);
  if (taken == lexicon().particles.end()) return std::nullopt;
  for (const auto& [word, effects] : taken->second) {
    if (word == particle) return effects;
  }
  return std::nullopt;
}

}  // namespace hengshi::text
