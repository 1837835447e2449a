// features.h — a question as weighed n-grams, the same in training and in serving.
//
// Shapes:  Sparse: rows of the vocabulary, ascending, with their values; L2 norm 1 (0 when no gram is known).
// Errors:  none: any bytes give some grams.
// Threads: Vocabulary is immutable once made; weigh() from any thread with its own Sparse.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "text/text.h"

namespace hengshi::light {

// Hashed n-grams, with repeats. Chinese: 1 to 3 characters. Else: 1 to 2 words, and 2 to 5 characters inside a word
// with its borders; the two kinds are told apart by the lowest bit (1 = characters) and weigh the same.
using Grams = std::vector<uint32_t>;
void extract_grams(std::string_view normalised, text::Language language, Grams& out);

struct Sparse {
  std::vector<uint32_t> rows;
  std::vector<float> values;
  float unknown = 0;  // share of the question's grams that training never saw
};

class Vocabulary {
 public:
  Vocabulary() = default;
  Vocabulary(std::vector<uint32_t> hashes, std::vector<float> idf);  // hashes ascending, as long as idf

  // The grams of these documents; the most frequent `limit` of them. Smoothed inverse document frequency.
  static Vocabulary fit(std::span<const Grams> documents, size_t limit);

  // Sublinear term frequency times idf, each kind of gram brought to the same length. Sorts `grams`.
  void weigh(Grams& grams, Sparse& out) const;

  size_t size() const { return hashes_.size(); }
  const std::vector<uint32_t>& hashes() const { return hashes_; }
  const std::vector<float>& idf() const { return idf_; }

 private:
  std::vector<uint32_t> hashes_;
  std::vector<float> idf_;
};

}  // namespace hengshi::light
