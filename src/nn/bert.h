// bert.h — the forward pass of a BERT-family encoder over int8 weights.
//
// Shapes:  ids int32[tokens], 1 <= tokens <= positions, each in [0, vocabulary); out f32[hidden], L2 norm 1.
// Errors:  load() hands on what is wrong with a tensor; forward() is total over its preconditions.
// Threads: immutable once loaded; forward() from any thread, scratch is per thread and kept for the next call.
// Source:  docs/decisions/0003-encoder.md; BERT (Devlin 2019).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "nn/kernels.h"
#include "nn/model_config.h"
#include "nn/packing.h"
#include "nn/safetensors.h"

namespace hengshi::nn {

class Bert {
 public:
  // Copies what it needs: the tensors may be unmapped afterwards.
  static Result<Bert> load(const BertConfig& config, Pooling pooling, const Safetensors& tensors);

  void forward(const Kernels& kernels, std::span<const int32_t> ids, std::span<float> out) const;
  size_t memory_bytes() const { return arena_.size(); }

 private:
  struct Norm {
    std::span<const float> gain;
    std::span<const float> bias;
  };
  struct Layer {
    PackedLinear qkv;  // columns: queries, keys, values
    PackedLinear attention_output;
    Norm attention_norm;
    PackedLinear up;
    PackedLinear down;
    Norm output_norm;
  };
  class Loader;
  struct Scratch;

  Bert(const BertConfig& config, Pooling pooling, size_t bytes) : config_(config), pooling_(pooling), arena_(bytes) {}
  void embed(const Kernels& kernels, std::span<const int32_t> ids, Scratch& scratch) const;
  void attend(const Kernels& kernels, const Layer& layer, size_t tokens, size_t queries, Scratch& scratch) const;
  void feed_forward(const Kernels& kernels, const Layer& layer, size_t rows, Scratch& scratch) const;
  void normalise(const Kernels& kernels, const Norm& norm, size_t rows, float* x) const;
  void pool(std::span<const float> x, size_t tokens, std::span<float> out) const;

  BertConfig config_;
  Pooling pooling_;
  WeightArena arena_;
  std::span<const int8_t> words_;       // [vocabulary, hidden]
  std::span<const float> word_scales_;  // [vocabulary]
  std::span<const float> positions_;    // [positions, hidden], token type 0 added
  Norm embedding_norm_;
  std::vector<Layer> layers_;
};

}  // namespace hengshi::nn
