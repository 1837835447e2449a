// network.h — the encoder in fp32, forwards and backwards over a packed batch.
//
// Shapes:  parameters and gradient f32[layout.size]; ids int32[rows], each in [0, vocabulary); embeddings
//          f32[sequences, hidden], L2 norm 1.
// Errors:  none: ids are the base model's own tokenizer's.
// Threads: one Network per thread; base model and parameters are shared and only read.
// Source:  docs/decisions/0009-tuning.md; nn/reference_bert.h is what forward() is held to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tune/base_model.h"
#include "tune/layout.h"
#include "tune/ops.h"

namespace hengshi::tune {

// Sequences end to end: sequence s is ids[starts[s]] … ids[starts[s + 1] − 1].
struct Packed {
  std::vector<int32_t> ids;
  std::vector<uint32_t> starts = {0};

  size_t rows() const { return ids.size(); }
  size_t sequences() const { return starts.size() - 1; }
  void clear();
  void add(std::span<const int32_t> sequence);
};

struct Dropping {
  float rate = 0;       // of the residual stream's inputs; 0 when not training
  uint64_t stream = 0;  // of random numbers; another for each step and worker
};

class Network {
 public:
  Network(const BaseModel& base, const Layout& layout);

  // Keeps what the backward needs. The span lives until the next forward.
  std::span<const float> forward(const float* parameters, const Packed& batch, const Dropping& dropping);
  // Of the last forward. Consumes d_embeddings; adds to the gradient.
  void backward(const float* parameters, const Packed& batch, const Dropping& dropping, std::span<float> d_embeddings,
                float* gradient);

  // Bytes that a batch of so many rows, its longest sequence of so many, takes.
  static size_t bytes(const nn::BertConfig& config, size_t rows, size_t longest);

 private:
  struct Layer {  // what each keeps of its forward
    std::vector<float> input, qkv, weights, context;
    std::vector<float> attended, attended_standard, attended_inverse;
    std::vector<float> inner, inner_slope;
    std::vector<float> standard, inverse;
  };

  Linear linear_at(const float* parameters, size_t weight, size_t bias, size_t in, size_t out) const;
  Norm norm_at(const float* parameters, size_t gain, size_t bias) const;
  Attention shape(const Packed& batch, size_t layer) const;
  bool first_only(size_t layer) const;
  void embed(const float* parameters, const Packed& batch, const Dropping& dropping);
  void layer_forward(const float* parameters, const Packed& batch, const Dropping& dropping, size_t index);
  void layer_backward(const float* parameters, const Packed& batch, const Dropping& dropping, size_t index,
                      float* gradient);
  void pool(const Packed& batch);

  const BaseModel& base_;
  const Layout& layout_;
  const nn::BertConfig& c_;
  std::vector<Layer> layers_;
  std::vector<float> embedding_standard_, embedding_inverse_;
  std::vector<float> x_;                // the residual stream
  std::vector<float> pooled_, length_;  // the embeddings, and their length before
  std::vector<float> d_x_, d_y_, d_inner_, d_qkv_, d_context_;
};

}  // namespace hengshi::tune
