// task.h — what tuning is for: a head and a loss over encoded texts.
//
// Shapes:  embeddings f32[texts, dim], L2 norm 1; labels [texts], in [0, classes); parameters and gradient are the
//          whole buffer of the layout.
// Units:   loss in nats per text.
// Errors:  none.
// Threads: one at a time.
// Source:  docs/decisions/0009-tuning.md; label smoothing (Szegedy 2016, section 7); supervised contrast (Khosla 2020,
//          equation 2).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tune/layout.h"
#include "tune/network.h"
#include "tune/ops.h"

namespace hengshi::tune {

struct Texts {
  std::span<const float> embeddings;
  std::span<const uint32_t> labels;
};

struct Outcome {
  double loss = 0;   // sum over the texts
  size_t right = 0;  // texts whose likeliest class is their label
};

class Task {
 public:
  virtual ~Task() = default;
  virtual void lay_out(Layout& layout) = 0;  // once, before anything else
  virtual void start(std::span<float> parameters, uint64_t seed) const = 0;

  // Writes d_embeddings and adds to the gradient: of the mean loss of these texts.
  virtual Outcome learn(const float* parameters, const Texts& texts, const Dropping& dropping,
                        std::span<float> d_embeddings, float* gradient) = 0;
  virtual Outcome test(const float* parameters, const Texts& texts) = 0;
};

struct ClassOptions {
  size_t classes = 2, dim = 0, hidden = 512;
  float smoothing = 0.1F;
  float contrast = 0;             // weight of the supervised contrastive loss beside cross-entropy
  float temperature = 0.1F;       // of the contrast
  uint32_t diverse = 0xFFFFFFFF;  // a class whose texts have nothing in common: no pull between them
};

// One hidden layer with ReLU on √dim · embedding.
class ClassTask final : public Task {
 public:
  explicit ClassTask(const ClassOptions& options) : options_(options) {}

  void lay_out(Layout& layout) override;
  void start(std::span<float> parameters, uint64_t seed) const override;
  Outcome learn(const float* parameters, const Texts& texts, const Dropping& dropping, std::span<float> d_embeddings,
                float* gradient) override;
  Outcome test(const float* parameters, const Texts& texts) override;

  // The head over plain embeddings: w1 f32[dim, hidden], b1, w2 f32[hidden, classes], b2.
  struct Head {
    size_t hidden = 0;
    std::vector<float> w1, b1, w2, b2;
  };
  Head head(std::span<const float> parameters) const;

 private:
  void logits(const float* parameters, const Texts& texts, const Dropping& dropping);

  Linear inner(const float* parameters) const;
  Linear outer(const float* parameters) const;

  ClassOptions options_;
  size_t w1_ = 0, b1_ = 0, w2_ = 0, b2_ = 0;
  std::vector<float> input_, hidden_, alive_, logits_, d_hidden_;
};

// Cross-entropy against smoothed labels. Turns logits[rows, classes] into the derivative of the mean loss.
Outcome cross_entropy(std::span<const uint32_t> labels, size_t classes, float smoothing, float* logits);

// Adds `weight` times the derivative of the mean loss to d; answers the sum of the losses. A text without a fellow of its class has none.
double contrast(const Texts& texts, size_t dim, const ClassOptions& options, float* d);

}  // namespace hengshi::tune
