#include "text/direction.h"

#include <algorithm>

#include "text/utf8.h"

namespace hengshi::text {

namespace {

constexpr std::string_view kChinese[] = {"转换成", "翻译成", "转成", "换成", "改成", "变成", "转为", "换为",
                                         "改为",   "到",     "至",   "转",   "换",   "飞",   "往",   "比"};
constexpr std::string_view kEnglish[] = {" to ", " into ", " than ", " before ", " after "};
constexpr size_t kReach = 24;  // bytes kept on either side

bool is_continuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// Whole characters only: a cut one is dropped.
std::string_view tail(std::string_view s, size_t bytes) {
  if (s.size() > bytes) s.remove_prefix(s.size() - bytes);
  while (!s.empty() && is_continuation(s[0])) s.remove_prefix(1);
  return s;
}

std::string_view head(std::string_view s, size_t bytes) {
  if (s.size() <= bytes) return s;
  while (bytes > 0 && is_continuation(s[bytes])) --bytes;
  return s.substr(0, bytes);
}

bool is_latin(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

std::string_view without_article(std::string_view s) {
  for (const std::string_view article : {"the ", "a ", "an ", "my "}) {
    if (s.starts_with(article)) return s.substr(article.size());
  }
  return s;
}

// What is pointed at: a word of Latin letters, or the beginning of a Chinese one.
std::string_view first_thing(std::string_view right) {
  size_t end = 0;
  while (end < right.size() && is_latin(right[end])) ++end;
  return end > 0 ? right.substr(0, end) : head(right, 6);
}

bool contains(std::string_view s, std::string_view thing) {
  const bool latin = is_latin(thing[0]);
  for (size_t at = s.find(thing); at != std::string_view::npos; at = s.find(thing, at + 1)) {
    const size_t end = at + thing.size();
    const bool part_of_word = latin && ((at > 0 && is_latin(s[at - 1])) || (end < s.size() && is_latin(s[end])));
    if (!part_of_word) return true;
  }
  return false;
}

// Each points at what the other comes from.
bool opposite(const Direction& a, const Direction& b) {
  const std::string_view to_a = first_thing(a.right), to_b = first_thing(b.right);
  return !to_a.empty() && !to_b.empty() && to_a != to_b && contains(a.left, to_b) && contains(b.left, to_a);
}

}  // namespace

std::vector<Direction> read_directions(std::string_view s) {
  std::vector<Direction> found;
  const auto add = [&](size_t at, size_t size) {
    found.push_back(
        {std::string(tail(s.substr(0, at), kReach)), std::string(head(without_article(s.substr(at + size)), kReach))});
  };
  for (size_t at = 0; at < s.size(); ++at) {
    if (is_continuation(s[at])) continue;
    for (const std::string_view word : kChinese) {
      if (!s.substr(at).starts_with(word)) continue;
      add(at, word.size());
      at += word.size() - 1;
      break;
    }
    for (const std::string_view word : kEnglish) {
      if (s[at] == ' ' && s.substr(at).starts_with(word)) add(at, word.size());
    }
  }
  return found;
}

bool reversed(const std::vector<Direction>& a, const std::vector<Direction>& b) {
  const auto any_opposite = [](const std::vector<Direction>& these, const std::vector<Direction>& those) {
    return std::any_of(these.begin(), these.end(), [&](const Direction& x) {
      return std::any_of(those.begin(), those.end(), [&](const Direction& y) { return opposite(x, y); });
    });
  };
  return any_opposite(a, b) && !(any_opposite(a, a) && any_opposite(b, b));  // two round trips do not contradict
}

}  // namespace hengshi::text
