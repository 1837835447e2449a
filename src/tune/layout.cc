#include "tune/layout.h"

#include <utility>

namespace hengshi::tune {

Layout::Layout(const nn::BertConfig& config) {
  const size_t n = config.hidden, wide = config.intermediate;
  embedding_gain = add("embeddings.LayerNorm.weight", {n}, false, 0);
  embedding_bias = add("embeddings.LayerNorm.bias", {n}, false, 0);
  for (size_t i = 0; i < config.layers; ++i) {
    const std::string at = "encoder.layer." + std::to_string(i) + ".";
    const std::string self = at + "attention.self.";
    LayerSlots layer;
    layer.qkv = add(self + "query.weight", {n, n}, true, i + 1);
    add(self + "key.weight", {n, n}, true, i + 1);
    add(self + "value.weight", {n, n}, true, i + 1);
    layer.qkv_bias = add(self + "query.bias", {n}, false, i + 1);
    add(self + "key.bias", {n}, false, i + 1);
    add(self + "value.bias", {n}, false, i + 1);
    layer.out = add(at + "attention.output.dense.weight", {n, n}, true, i + 1);
    layer.out_bias = add(at + "attention.output.dense.bias", {n}, false, i + 1);
    layer.attention_gain = add(at + "attention.output.LayerNorm.weight", {n}, false, i + 1);
    layer.attention_bias = add(at + "attention.output.LayerNorm.bias", {n}, false, i + 1);
    layer.up = add(at + "intermediate.dense.weight", {wide, n}, true, i + 1);
    layer.up_bias = add(at + "intermediate.dense.bias", {wide}, false, i + 1);
    layer.down = add(at + "output.dense.weight", {n, wide}, true, i + 1);
    layer.down_bias = add(at + "output.dense.bias", {n}, false, i + 1);
    layer.output_gain = add(at + "output.LayerNorm.weight", {n}, false, i + 1);
    layer.output_bias = add(at + "output.LayerNorm.bias", {n}, false, i + 1);
    layers.push_back(layer);
  }
  encoder_size = size;
}

size_t Layout::add(const std::string& name, std::vector<size_t> shape, bool decayed, size_t depth) {
  Slot slot{name, std::move(shape), size, 1, depth, decayed};
  for (const size_t n : slot.shape) slot.size *= n;
  size += slot.size;
  slots.push_back(std::move(slot));
  return slots.back().offset;
}

}  // namespace hengshi::tune
