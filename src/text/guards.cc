#include "text/guards.h"

#include <algorithm>
#include <map>

#include "text/lexicon.h"
#include "text/quantity.h"
#include "text/text.h"
#include "text/utf8.h"

namespace hengshi::text {

namespace {

constexpr size_t kParticleReach = 4;  // words between "turn" and its "off"

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word_byte(char c) { return is_letter(c) || is_digit(c) || c == '\''; }

class Reader {
 public:
  explicit Reader(std::string_view s) : s_(s) {}

  GuardFacts read() {
    while (at_ < s_.size()) step();
    facts_.directions = read_directions(s_);
    facts_.characters = count_characters(s_);
    return std::move(facts_);
  }

 private:
  void step() {
    const char c = s_[at_];
    if (is_letter(c)) {
      if (!quantity()) english();
    } else if (static_cast<uint8_t>(c) >= 0x80) {
      chinese();
    } else {
      if (!quantity()) ++at_;
    }
  }

  DayPart day_part() const {
    if (day_part_end_ != at_ || facts_.numbers.empty()) return DayPart::kNone;
    const std::string& token = facts_.numbers.back();
    if (token == "am") return DayPart::kMorning;
    return token == "pm" || token == "night" ? DayPart::kAfternoon : DayPart::kNone;
  }

  bool quantity() {
    const DayPart part = day_part();
    auto q = read_quantity(s_, at_, part);
    if (!q || q->end <= at_) return false;
    if (q->time_of_day && part != DayPart::kNone) facts_.numbers.pop_back();  // 下午三点 is one fact: 15:00
    if (!q->canonical.empty()) facts_.numbers.push_back(std::move(q->canonical));
    at_ = q->end;
    if (q->duration) order_behind();
    return true;
  }

  void order_behind() {
    for (const auto& [word, effect] : {std::pair{"之前", "+order"},
                                       {"以前", "+order"},
                                       {"前", "+order"},
                                       {"之后", "-order"},
                                       {"以后", "-order"},
                                       {"后", "-order"}}) {
      if (!s_.substr(at_).starts_with(word)) continue;
      facts_.polar.emplace_back(effect);
      at_ += std::string_view(word).size();
      return;
    }
  }

  void apply(std::string_view effects) {
    for (size_t at = 0; at < effects.size();) {
      const size_t end = std::min(effects.find(' ', at), effects.size());
      const std::string_view effect = effects.substr(at, end - at);
      if (effect == "!") {
        ++facts_.negations;
      } else if (effect[0] == '=') {
        facts_.numbers.emplace_back(effect.substr(1));
      } else {
        facts_.polar.emplace_back(effect);
      }
      at = end + 1;
    }
  }

  void english() {
    if (const auto phrase = english_phrase(s_, at_)) {
      apply(phrase->effects);
      at_ += phrase->text.size();
      return;
    }
    const size_t begin = at_;
    while (at_ < s_.size() && is_word_byte(s_[at_])) ++at_;
    const std::string_view word = s_.substr(begin, at_ - begin);
    if (name(word)) return;
    if (may(word)) return;
    ++word_;
    if (!verb_.empty() && word_ - verb_at_ <= kParticleReach) {
      if (const auto effects = particle_effects(verb_, word)) {
        apply(*effects);
        verb_ = {};
        return;
      }
    }
    const auto effects = english_effects(word);
    if (effects) apply(*effects);
    if (const auto verb = particle_verb(word); !verb.empty()) verb_ = verb, verb_at_ = word_;
  }

  // a123, ps5 are names; of iphone12 and win11 the number is what matters.
  bool name(std::string_view word) {
    const size_t digits = word.find_first_of("0123456789");
    if (digits == std::string_view::npos) return false;
    const std::string_view tail = word.substr(digits);
    const bool numbered = digits >= 3 && std::all_of(tail.begin(), tail.end(), is_digit);
    facts_.numbers.emplace_back(numbered ? tail : word);
    return true;
  }

  bool may(std::string_view word) {
    if (word != "may" || at_ + 1 >= s_.size() || !is_digit(s_[at_ + 1])) return false;
    facts_.numbers.emplace_back("m5");
    return true;
  }

  char32_t character_before(size_t at) const {
    if (at == 0) return 0;
    --at;
    while (at > 0 && (static_cast<uint8_t>(s_[at]) & 0xC0) == 0x80) --at;
    return decode(s_, at).value;
  }

  // 开不开, 有没有 ask; 到账了没有, 行不 end a question. None of them denies.
  bool asks(const Word& word) const {
    if (word.effects != "!" || (word.text != "不" && word.text != "没" && word.text != "没有")) return false;
    const char32_t before = character_before(at_);
    const size_t after = at_ + word.text.size();
    if (after >= s_.size()) return word.text != "没有" || before == U'了' || before == U'过';
    return before != 0 && decode(s_, after).value == before;
  }

  void chinese() {
    const auto word = chinese_word(s_, at_);
    if (!word) {
      if (!quantity()) at_ += decode(s_, at_).bytes;
      return;
    }
    if (!asks(*word)) apply(word->effects);
    at_ += word->text.size();
    if (word->effects.find('=') != std::string_view::npos) day_part_end_ = at_;
  }

  std::string_view s_;
  size_t at_ = 0;
  GuardFacts facts_;
  size_t day_part_end_ = std::string_view::npos;
  std::string_view verb_;
  size_t word_ = 0, verb_at_ = 0;
};

using Ends = std::map<std::string_view, std::string>;  // pair -> the signs of its members in order, repeats dropped

Ends ends(const GuardFacts& facts) {
  Ends result;
  for (const std::string& member : facts.polar) {
    std::string& signs = result[std::string_view(member).substr(1)];
    if (signs.empty() || signs.back() != member[0]) signs += member[0];
  }
  return result;
}

bool antonyms(const GuardFacts& a, const GuardFacts& b) {
  if (a.polar.empty() || b.polar.empty()) return false;
  const Ends of_a = ends(a), of_b = ends(b);
  return std::any_of(of_a.begin(), of_a.end(), [&](const auto& pair) {
    const auto other = of_b.find(pair.first);
    return other != of_b.end() && other->second != pair.second;
  });
}

bool lengths_apart(size_t a, size_t b) {
  const size_t shorter = std::min(a, b), longer = std::max(a, b);
  return longer > 2 * shorter + 8;
}

}  // namespace

GuardFacts guard_facts(std::string_view normalised) { return Reader(normalised).read(); }

std::string_view refuse(const GuardFacts& a, const GuardFacts& b) {
  if (a.numbers != b.numbers) return "number";
  if (a.negations != b.negations) return "negation";
  if (antonyms(a, b)) return "antonym";
  if (reversed(a.directions, b.directions)) return "direction";
  if (lengths_apart(a.characters, b.characters)) return "length";
  return {};
}

}  // namespace hengshi::text
