// heads.h — the two classifiers of the light model and its nearest examples, ready to serve.
//
// Shapes:  classes = intents, then one class "out of scope"; embedding f32[dim], L2 norm 1; weights row-major.
// Errors:  none: shapes are checked when an artifact is read.
// Threads: immutable once made.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "light/features.h"

namespace hengshi::light {

// Multinomial logistic regression over n-grams; a row of int8 weights per gram with its scale.
struct NgramHead {
  Vocabulary vocabulary;
  std::vector<int8_t> weights;  // [vocabulary, classes]
  std::vector<float> scales;    // [vocabulary]
  std::vector<float> bias;      // [classes]

  void logits(const Sparse& question, std::span<float> out) const;
};

// One hidden layer with ReLU on the frozen encoder's embedding.
struct EncoderHead {
  size_t dim = 0, hidden = 0;
  std::vector<float> w1, b1;  // [dim, hidden], [hidden]
  std::vector<float> w2, b2;  // [hidden, classes], [classes]

  void logits(std::span<const float> embedding, std::span<float> out) const;
};

// What each intent's training phrasings look like to the encoder: their mean, and some of them.
struct Examples {
  size_t dim = 0;
  std::vector<float> centroids;  // [intents, dim], L2 norm 1
  std::vector<uint32_t> starts;  // [intents + 1], into the rows below
  std::vector<int8_t> vectors;   // [rows, dim]
  std::vector<float> scales;     // [rows]

  float to_centroid(size_t intent, std::span<const float> embedding) const;  // cosine
  float to_nearest(size_t intent, std::span<const float> embedding) const;   // cosine; 0 without examples
};

struct Heads {
  size_t intents = 0;
  NgramHead ngram;
  EncoderHead encoder;
  Examples examples;

  size_t classes() const { return intents + 1; }
};

// Symmetric int8 of one row; the scale that brings it back.
float quantise(std::span<const float> from, std::span<int8_t> to);

}  // namespace hengshi::light
