#include "api/plain_chunk.h"

#include <simdjson.h>

#include <algorithm>

namespace hengshi::api {

using json::Kind;
using json::Value;

namespace {

bool is_plain(std::string_view text) {
  const auto needs_escape = [](unsigned char c) { return c < 0x20 || c == '"' || c == '\\'; };
  return std::ranges::none_of(text, needs_escape) && simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace

std::optional<Value> only_text(const Chunk& chunk) {
  if (chunk.counts || chunk.choices.size() != 1) return std::nullopt;
  const Value choice = *chunk.choices.begin();
  for (const Value member : choice) {
    const bool told = member.key() == "index" || member.key() == "delta";
    if (!told && !member.is(Kind::kNull)) return std::nullopt;
  }
  const auto delta = choice.find("delta");
  if (!delta || !delta->is(Kind::kObject) || delta->size() != 1) return std::nullopt;
  const Value content = *delta->begin();
  if (content.key() != "content" || !content.is(Kind::kString)) return std::nullopt;
  return content;
}

void PlainChunk::learn(std::string_view chunk, size_t begin, size_t end) {
  before_ = chunk.substr(0, begin);
  after_ = chunk.substr(end);
}

std::optional<std::string_view> PlainChunk::text_of(std::string_view chunk) const {
  if (!known() || chunk.size() < before_.size() + after_.size()) return std::nullopt;
  if (!chunk.starts_with(before_) || !chunk.ends_with(after_)) return std::nullopt;
  const std::string_view text = chunk.substr(before_.size(), chunk.size() - before_.size() - after_.size());
  if (!is_plain(text)) return std::nullopt;
  return text;
}

}  // namespace hengshi::api
