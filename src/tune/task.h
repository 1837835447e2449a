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
  size_t classes = 2, dim = 0;
  float smoothing = 0.1F;
  float contrast = 0;             // weight of the supervised contrastive loss beside cross-entropy
  float temperature = 0.1F;       // of the contrast
  uint32_t diverse = 0xFFFFFFFF;  // a class whose texts have nothing in common: no pull between them
};

// Linear on √dim · embedding.
class ClassTask final : public Task {
 public:
  explicit ClassTask(const ClassOptions& options) : options_(options) {}

  void lay_out(Layout& layout) override;
  void start(std::span<float> parameters, uint64_t seed) const override;
  Outcome learn(const float* parameters, const Texts& texts, const Dropping& dropping, std::span<float> d_embeddings,
                float* gradient) override;
  Outcome test(const float* parameters, const Texts& texts) override;

  // As weight f32[classes, dim] and bias f32[classes] over plain embeddings.
  std::vector<float> weight(std::span<const float> parameters) const;
  std::span<const float> bias(std::span<const float> parameters) const;

 private:
  void logits(const float* parameters, const Texts& texts, const Dropping& dropping);

  ClassOptions options_;
  size_t weight_ = 0, bias_ = 0;
  std::vector<float> input_, logits_;
};

// Cross-entropy against smoothed labels. Turns logits[rows, classes] into the derivative of the mean loss.
Outcome cross_entropy(std::span<const uint32_t> labels, size_t classes, float smoothing, float* logits);

// Adds `weight` times the derivative of the mean loss to d; answers the sum of the losses. A text without a fellow of its class has none.
double contrast(const Texts& texts, size_t dim, const ClassOptions& options, float* d);

}  // namespace hengshi::tune
