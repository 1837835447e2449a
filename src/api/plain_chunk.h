// plain_chunk.h — recognises a chunk that differs from an earlier one in its text alone, without reading it as JSON.
//
// Most chunks of a stream are alike but for a few letters; reading each of them whole was a third of what passing an
// answer on cost.
//
// Errors:  none: what is not recognised is left to the reader of JSON.
// Threads: values.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"
#include "api/upstream_words.h"

namespace hengshi::api {

// The text of a chunk that says nothing else: one choice, not finishing, whose delta is `content` alone.
std::optional<json::Value> only_text(const Chunk& chunk);

class PlainChunk {
 public:
  // `begin` and `end`: of the bytes between the quotes of the text.
  void learn(std::string_view chunk, size_t begin, size_t end);
  bool known() const { return !before_.empty(); }
  // The text when `chunk` is the learnt one but for that, and its bytes are its characters: no escapes, valid UTF-8.
  std::optional<std::string_view> text_of(std::string_view chunk) const;

  const std::string& before() const { return before_; }
  const std::string& after() const { return after_; }

 private:
  std::string before_, after_;
};

}  // namespace hengshi::api
