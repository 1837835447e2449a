// examples.h — labelled questions as the fitting code wants them: text, normal form, class, embedding.
//
// Shapes:  embeddings f32[size, dim], L2 norm 1; label = intent, or `intents` for out of scope; foreign 1 for a
//          question of the built-in list, which is out of scope for every pack. origins [copies]: the last rows are
//          copies with errors in them; the row each is a copy of, so that no split parts the two.
// Threads: values.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace hengshi::train {

struct Examples {
  size_t dim = 0;
  std::vector<std::string> texts;  // as they are written; where that is not known, the normal form
  std::vector<std::string> normalised;
  std::vector<uint32_t> labels;
  std::vector<float> embeddings;
  std::vector<uint8_t> foreign;
  std::vector<size_t> origins;

  size_t size() const { return labels.size(); }
  size_t originals() const { return labels.size() - origins.size(); }
  std::span<const float> embedding(size_t i) const { return {&embeddings[i * dim], dim}; }
  void add(const std::string& text, uint32_t label, std::span<const float> vector, bool is_foreign = false,
           const std::string& written = {}) {
    texts.push_back(written.empty() ? text : written);
    normalised.push_back(text);
    labels.push_back(label);
    embeddings.insert(embeddings.end(), vector.begin(), vector.end());
    foreign.push_back(is_foreign ? 1 : 0);
  }
};

}  // namespace hengshi::train
