#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "train/fit_heads.h"
#include "train/rng.h"

namespace hengshi::train {

namespace {

constexpr size_t kVocabularyLimit = 1 << 16;  // grams: at 150 classes, 10 MB of int8 weights
constexpr size_t kPasses = 20;
constexpr float kFirstRate = 3.0F;   // rows have norm 1, so the loss bends by at most 1/2
constexpr float kInverseL2 = 20.0F;  // as others write C: the penalty is 1 / (C rows)

// Weights as scale x stored: the penalty shrinks every weight of every step by touching one number.
struct Shrinking {
  std::vector<float> stored, bias;
  float scale = 1;

  void shrink(float by) {
    scale *= by;
    if (scale > 1e-3F) return;
    for (float& w : stored) w *= scale;
    scale = 1;
  }
};

void softmax(std::vector<float>& z) {
  const float top = *std::max_element(z.begin(), z.end());
  float sum = 0;
  for (float& x : z) sum += x = std::exp(x - top);
  for (float& x : z) x /= sum;
}

void step(Shrinking& w, const light::Sparse& x, size_t label, float rate, std::vector<float>& p) {
  const size_t classes = w.bias.size();
  p = w.bias;
  for (size_t i = 0; i < x.rows.size(); ++i) {
    const float* row = &w.stored[x.rows[i] * classes];
    const float value = x.values[i] * w.scale;
    for (size_t k = 0; k < classes; ++k) p[k] += value * row[k];
  }
  softmax(p);
  p[label] -= 1;
  for (size_t k = 0; k < classes; ++k) w.bias[k] -= 0.1F * rate * p[k];
  for (size_t i = 0; i < x.rows.size(); ++i) {
    float* row = &w.stored[x.rows[i] * classes];
    const float by = rate * x.values[i] / w.scale;
    for (size_t k = 0; k < classes; ++k) row[k] -= by * p[k];
  }
}

Shrinking descend(const std::vector<light::Sparse>& rows, const std::vector<uint32_t>& labels, size_t vocabulary,
                  size_t classes, size_t passes, uint64_t seed) {
  Shrinking w;
  w.stored.assign(vocabulary * classes, 0.0F);
  w.bias.assign(classes, 0.0F);
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<float> scratch;
  Rng rng(seed);
  const float penalty = 1.0F / (kInverseL2 * static_cast<float>(rows.size()));
  const auto steps = static_cast<float>(passes * rows.size());
  float done = 0;
  for (size_t pass = 0; pass < passes; ++pass) {
    rng.shuffle(order);
    for (const size_t i : order) {
      const float rate = kFirstRate * 0.5F * (1 + std::cos(std::numbers::pi_v<float> * done / steps));
      w.shrink(1 - rate * penalty);
      step(w, rows[i], labels[i], rate, scratch);
      done += 1;
    }
  }
  for (float& x : w.stored) x *= w.scale;
  w.scale = 1;
  return w;
}

}  // namespace

light::NgramHead fit_ngram_head(const Examples& train, const Task& task, uint64_t seed) {
  std::vector<light::Grams> grams(train.size());
  for (size_t i = 0; i < train.size(); ++i) light::extract_grams(train.normalised[i], task.language, grams[i]);
  light::NgramHead head;
  head.vocabulary = light::Vocabulary::fit(grams, kVocabularyLimit);
  std::vector<light::Sparse> rows(train.size());
  for (size_t i = 0; i < train.size(); ++i) head.vocabulary.weigh(grams[i], rows[i]);
  const size_t classes = task.intents + 1;
  const Shrinking w = descend(rows, train.labels, head.vocabulary.size(), classes, passes_over(train, kPasses), seed);
  head.bias = w.bias;
  head.weights.resize(w.stored.size());
  head.scales.resize(head.vocabulary.size());
  for (size_t row = 0; row < head.vocabulary.size(); ++row) {
    head.scales[row] = light::quantise({&w.stored[row * classes], classes}, {&head.weights[row * classes], classes});
  }
  return head;
}

}  // namespace hengshi::train
