#include "train/fit_heads.h"

#include <algorithm>
#include <cmath>

#include "train/rng.h"

namespace hengshi::train {

namespace {

constexpr size_t kExamplesPerIntent = 16;
constexpr size_t kFewestPasses = 8;

}  // namespace

size_t passes_over(const Examples& train, size_t without_copies) {
  return std::max(kFewestPasses, without_copies * train.originals() / std::max<size_t>(train.size(), 1));
}

light::Examples pick_examples(const Examples& train, const Task& task, uint64_t seed) {
  light::Examples out;
  out.dim = train.dim;
  out.centroids.assign(task.intents * train.dim, 0.0F);
  out.starts.push_back(0);
  std::vector<std::vector<size_t>> of_intent(task.intents);
  for (size_t i = 0; i < train.originals(); ++i) {
    if (train.labels[i] < task.intents) of_intent[train.labels[i]].push_back(i);
  }
  Rng rng(seed);
  for (size_t intent = 0; intent < task.intents; ++intent) {
    auto& rows = of_intent[intent];
    float* centroid = &out.centroids[intent * train.dim];
    for (const size_t row : rows) {
      for (size_t k = 0; k < train.dim; ++k) centroid[k] += train.embedding(row)[k];
    }
    float norm = 0;
    for (size_t k = 0; k < train.dim; ++k) norm += centroid[k] * centroid[k];
    for (size_t k = 0; k < train.dim && norm > 0; ++k) centroid[k] /= std::sqrt(norm);
    rng.shuffle(rows);
    if (rows.size() > kExamplesPerIntent) rows.resize(kExamplesPerIntent);
    for (const size_t row : rows) {
      out.vectors.resize(out.vectors.size() + train.dim);
      out.scales.push_back(
          light::quantise(train.embedding(row), {&*(out.vectors.end() - static_cast<long>(train.dim)), train.dim}));
    }
    out.starts.push_back(static_cast<uint32_t>(out.scales.size()));
  }
  return out;
}

light::Heads fit_heads(const Examples& train, const Task& task, uint64_t seed) {
  light::Heads heads;
  heads.intents = task.intents;
  heads.ngram = fit_ngram_head(train, task, seed);
  heads.encoder = fit_encoder_head(train, task, seed);
  heads.examples = pick_examples(train, task, seed);
  return heads;
}

}  // namespace hengshi::train
