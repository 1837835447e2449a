#include "light/slot.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/text.h"

namespace hengshi::light {

namespace {

constexpr int64_t kPatternMemory = 1 << 20;  // bytes; a pattern that needs more is refused

tl::unexpected<Error> bad(std::string why) { return fail(ErrorCode::kInvalidRequest, std::move(why)); }

Result<std::unique_ptr<const re2::RE2>> compile(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  auto compiled = std::make_unique<const re2::RE2>(pattern, options);
  if (!compiled->ok()) return bad(fmt::format("pattern '{}': {}", pattern, compiled->error()));
  return compiled;
}

std::optional<std::string> match(const re2::RE2& pattern, std::string_view question) {
  re2::StringPiece groups[2];
  const int wanted = 1 + std::min(pattern.NumberOfCapturingGroups(), 1);
  const re2::StringPiece whole(question.data(), question.size());
  if (!pattern.Match(whole, 0, question.size(), re2::RE2::UNANCHORED, groups, wanted)) return std::nullopt;
  const re2::StringPiece value = groups[wanted - 1];
  return std::string(value.data(), value.size());
}

bool is_word_byte(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// "red" is not in "bored"; a Chinese name may stand anywhere.
size_t find_name(std::string_view question, std::string_view name) {
  for (size_t at = question.find(name); at != std::string_view::npos; at = question.find(name, at + 1)) {
    const size_t end = at + name.size();
    const bool runs_on = (is_word_byte(name.front()) && at > 0 && is_word_byte(question[at - 1])) ||
                         (is_word_byte(name.back()) && end < question.size() && is_word_byte(question[end]));
    if (!runs_on) return at;
  }
  return std::string_view::npos;
}

}  // namespace

Result<Slot> Slot::make(const SlotSource& source) {
  const int ways = (source.pattern.empty() ? 0 : 1) + (source.kind.empty() ? 0 : 1) + (source.values.empty() ? 0 : 1);
  if (ways != 1) return bad("it needs one of pattern, kind and values");
  Slot out;
  if (!source.pattern.empty()) {
    TRY(out.pattern_, compile(source.pattern));
  } else if (!source.kind.empty()) {
    out.kind_ = text::value_kind(source.kind);
    if (!out.kind_) return bad(fmt::format("kind '{}' is not known; there are {}", source.kind, text::kValueKinds));
  }
  for (const auto& [value, others] : source.values) {
    out.names_.push_back({text::normalise(value), value});
    for (const std::string& other : others) out.names_.push_back({text::normalise(other), value});
  }
  for (const Name& name : out.names_) {
    if (name.normal.empty()) return bad("one of its values is empty");
    const auto twice = [&](const Name& other) { return other.normal == name.normal && other.value != name.value; };
    const auto other = std::find_if(out.names_.begin(), out.names_.end(), twice);
    if (other == out.names_.end()) continue;
    return bad(fmt::format("'{}' names both '{}' and '{}'", name.normal, name.value, other->value));
  }
  return out;
}

std::optional<std::string> Slot::read(std::string_view question) const {
  if (pattern_ != nullptr) return match(*pattern_, question);
  if (kind_) return text::find_value(*kind_, question);
  const std::string normal = text::normalise(question);
  const Name* best = nullptr;  // the first in the question, and the longest of those
  size_t best_at = std::string::npos;
  for (const Name& name : names_) {
    const size_t at = find_name(normal, name.normal);
    if (at == std::string::npos || at > best_at) continue;
    if (at == best_at && best->normal.size() >= name.normal.size()) continue;
    best = &name;
    best_at = at;
  }
  return best == nullptr ? std::nullopt : std::optional(best->value);
}

}  // namespace hengshi::light
