// layout.h — where each trained tensor lies in one flat buffer of numbers.
//
// Shapes:  queries, keys and values of a layer lie one after the other, weights then biases, so that one product makes
//          all three.
// Threads: immutable once made.
// Source:  BERT (Devlin 2019); names as Hugging Face's BertModel.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "nn/model_config.h"

namespace hengshi::tune {

struct Slot {
  std::string name;
  std::vector<size_t> shape;
  size_t offset = 0, size = 0;
  size_t depth = 0;      // 0: embeddings, 1 …: layers, layers + 1: the task's own
  bool decayed = false;  // weight decay: matrices alone
};

// Floats into the buffer. The words, positions and token types are not here: they stay as they were.
struct LayerSlots {
  size_t qkv = 0, qkv_bias = 0, out = 0, out_bias = 0, attention_gain = 0, attention_bias = 0;
  size_t up = 0, up_bias = 0, down = 0, down_bias = 0, output_gain = 0, output_bias = 0;
};

struct Layout {
  Layout() = default;
  explicit Layout(const nn::BertConfig& config);

  // The task's own tensor, after all others; answers its offset.
  size_t add(const std::string& name, std::vector<size_t> shape, bool decayed, size_t depth);

  std::vector<Slot> slots;
  std::vector<LayerSlots> layers;
  size_t embedding_gain = 0, embedding_bias = 0;
  size_t encoder_size = 0;  // floats before the task's own
  size_t size = 0;
};

}  // namespace hengshi::tune
