#include "tune/network.h"

#include <algorithm>

#include "tune/dice.h"

namespace hengshi::tune {

namespace {

constexpr uint64_t kEmbeddingDrop = 0, kAttentionDrop = 1, kOutputDrop = 2, kDropsPerLayer = 2;

// Vectors only grow: a buffer holds at least what the batch at hand needs.
void at_least(std::vector<float>& v, size_t n) {
  if (v.size() < n) v.resize(n);
}

// Row `starts[s]` of each sequence, out of `from` into row s of `to`.
void gather_first(const Packed& batch, size_t width, const float* from, float* to) {
  for (size_t s = 0; s < batch.sequences(); ++s) std::copy_n(from + batch.starts[s] * width, width, to + s * width);
}

}  // namespace

void Packed::clear() {
  ids.clear();
  starts = {0};
}

void Packed::add(std::span<const int32_t> sequence) {
  ids.insert(ids.end(), sequence.begin(), sequence.end());
  starts.push_back(static_cast<uint32_t>(ids.size()));
}

Network::Network(const BaseModel& base, const Layout& layout)
    : base_(base), layout_(layout), c_(base.config().bert), layers_(c_.layers) {}

Linear Network::linear_at(const float* parameters, size_t weight, size_t bias, size_t in, size_t out) const {
  return {parameters + weight, parameters + bias, in, out};
}

Norm Network::norm_at(const float* parameters, size_t gain, size_t bias) const {
  return {parameters + gain, parameters + bias, c_.hidden, c_.epsilon};
}

// Nobody reads the last layer's other rows when only the first is pooled.
bool Network::first_only(size_t layer) const {
  return base_.config().pooling == nn::Pooling::kCls && layer + 1 == c_.layers;
}

Attention Network::shape(const Packed& batch, size_t layer) const {
  return {batch.starts, c_.heads, c_.head_size(), first_only(layer)};
}

void Network::embed(const float* parameters, const Packed& batch, const Dropping& dropping) {
  const size_t n = c_.hidden, rows = batch.rows();
  at_least(x_, rows * n);
  at_least(embedding_standard_, rows * n);
  at_least(embedding_inverse_, rows);
  const float* const type = base_.types().data();
  for (size_t s = 0; s < batch.sequences(); ++s) {
    for (size_t row = batch.starts[s]; row < batch.starts[s + 1]; ++row) {
      const float* const word = &base_.words()[static_cast<size_t>(batch.ids[row]) * n];
      const float* const position = &base_.positions()[(row - batch.starts[s]) * n];
      for (size_t i = 0; i < n; ++i) x_[row * n + i] = word[i] + position[i] + type[i];
    }
  }
  layer_norm(norm_at(parameters, layout_.embedding_gain, layout_.embedding_bias), x_.data(), rows, x_.data(),
             embedding_standard_.data(), embedding_inverse_.data());
  dropout(roll(dropping.stream, kEmbeddingDrop), dropping.rate, rows * n, x_.data());
}

void Network::layer_forward(const float* parameters, const Packed& batch, const Dropping& dropping, size_t index) {
  const size_t n = c_.hidden, wide = c_.intermediate, all = batch.rows();
  const LayerSlots& at = layout_.layers[index];
  Layer& kept = layers_[index];
  const Attention attend = shape(batch, index);
  const size_t rows = attend.first_only ? batch.sequences() : all;
  const uint64_t drop = kDropsPerLayer * index;
  kept.input.assign(x_.begin(), x_.begin() + static_cast<long>(all * n));
  at_least(kept.qkv, all * 3 * n);
  at_least(kept.weights, attend.weights());
  at_least(kept.context, rows * n);
  linear(linear_at(parameters, at.qkv, at.qkv_bias, n, 3 * n), kept.input.data(), all, kept.qkv.data());
  attention(attend, kept.qkv.data(), kept.weights.data(), kept.context.data());

  at_least(kept.attended, rows * n);
  at_least(kept.attended_standard, rows * n);
  at_least(kept.attended_inverse, rows);
  if (attend.first_only) gather_first(batch, n, kept.input.data(), x_.data());
  float* const y = kept.attended.data();
  linear(linear_at(parameters, at.out, at.out_bias, n, n), kept.context.data(), rows, y);
  dropout(roll(dropping.stream, kAttentionDrop + drop), dropping.rate, rows * n, y);
  add_to(x_.data(), rows * n, y);
  layer_norm(norm_at(parameters, at.attention_gain, at.attention_bias), y, rows, y, kept.attended_standard.data(),
             kept.attended_inverse.data());

  at_least(kept.inner, rows * wide);
  at_least(kept.inner_slope, rows * wide);
  linear(linear_at(parameters, at.up, at.up_bias, n, wide), y, rows, kept.inner.data());
  gelu(kept.inner.data(), rows * wide, kept.inner.data(), kept.inner_slope.data());
  linear(linear_at(parameters, at.down, at.down_bias, wide, n), kept.inner.data(), rows, x_.data());
  dropout(roll(dropping.stream, kOutputDrop + drop), dropping.rate, rows * n, x_.data());
  add_to(y, rows * n, x_.data());
  at_least(kept.standard, rows * n);
  at_least(kept.inverse, rows);
  layer_norm(norm_at(parameters, at.output_gain, at.output_bias), x_.data(), rows, x_.data(), kept.standard.data(),
             kept.inverse.data());
}

void Network::pool(const Packed& batch) {
  const size_t n = c_.hidden, sequences = batch.sequences();
  at_least(pooled_, sequences * n);
  at_least(length_, sequences);
  if (base_.config().pooling == nn::Pooling::kCls) {
    std::copy_n(x_.begin(), sequences * n, pooled_.begin());  // the last layer left nothing else
  } else {
    mean_pool(batch.starts, n, x_.data(), pooled_.data());
  }
  unit_rows(sequences, n, pooled_.data(), length_.data());
}

std::span<const float> Network::forward(const float* parameters, const Packed& batch, const Dropping& dropping) {
  embed(parameters, batch, dropping);
  for (size_t i = 0; i < c_.layers; ++i) layer_forward(parameters, batch, dropping, i);
  pool(batch);
  return {pooled_.data(), batch.sequences() * c_.hidden};
}

// d_x_ comes in as the derivative at the layer's output and leaves as that at its input.
void Network::layer_backward(const float* parameters, const Packed& batch, const Dropping& dropping, size_t index,
                             float* gradient) {
  const size_t n = c_.hidden, wide = c_.intermediate, all = batch.rows();
  const LayerSlots& at = layout_.layers[index];
  const Layer& kept = layers_[index];
  const Attention attend = shape(batch, index);
  const size_t rows = attend.first_only ? batch.sequences() : all;
  const uint64_t drop = kDropsPerLayer * index;
  const auto backward = [&](size_t weight, size_t bias, size_t in, size_t out, const float* x, size_t count,
                            const float* d_y, float* d_x) {
    linear_backward(linear_at(parameters, weight, bias, in, out), x, count, d_y, gradient + weight, gradient + bias,
                    d_x);
  };
  layer_norm_backward(norm_at(parameters, at.output_gain, at.output_bias), kept.standard.data(), kept.inverse.data(),
                      rows, d_x_.data(), gradient + at.output_gain, gradient + at.output_bias, d_x_.data());
  d_y_.assign(d_x_.begin(), d_x_.begin() + static_cast<long>(rows * n));
  dropout(roll(dropping.stream, kOutputDrop + drop), dropping.rate, rows * n, d_y_.data());
  at_least(d_inner_, rows * wide);
  backward(at.down, at.down_bias, wide, n, kept.inner.data(), rows, d_y_.data(), d_inner_.data());
  multiply_by(kept.inner_slope.data(), rows * wide, d_inner_.data());
  backward(at.up, at.up_bias, n, wide, kept.attended.data(), rows, d_inner_.data(), d_y_.data());
  add_to(d_y_.data(), rows * n, d_x_.data());

  layer_norm_backward(norm_at(parameters, at.attention_gain, at.attention_bias), kept.attended_standard.data(),
                      kept.attended_inverse.data(), rows, d_x_.data(), gradient + at.attention_gain,
                      gradient + at.attention_bias, d_x_.data());
  d_y_.assign(d_x_.begin(), d_x_.begin() + static_cast<long>(rows * n));
  dropout(roll(dropping.stream, kAttentionDrop + drop), dropping.rate, rows * n, d_y_.data());
  at_least(d_context_, rows * n);
  backward(at.out, at.out_bias, n, n, kept.context.data(), rows, d_y_.data(), d_context_.data());
  at_least(d_qkv_, all * 3 * n);
  attention_backward(attend, kept.qkv.data(), kept.weights.data(), d_context_.data(), d_qkv_.data());
  at_least(d_y_, all * n);
  backward(at.qkv, at.qkv_bias, n, 3 * n, kept.input.data(), all, d_qkv_.data(), d_y_.data());
  if (attend.first_only) {
    for (size_t s = 0; s < rows; ++s) add_to(&d_x_[s * n], n, &d_y_[batch.starts[s] * n]);
    std::copy_n(d_y_.begin(), all * n, d_x_.begin());
  } else {
    add_to(d_y_.data(), all * n, d_x_.data());
  }
}

void Network::backward(const float* parameters, const Packed& batch, const Dropping& dropping,
                       std::span<float> d_embeddings, float* gradient) {
  const size_t n = c_.hidden, sequences = batch.sequences();
  at_least(d_x_, batch.rows() * n);
  unit_rows_backward(sequences, n, pooled_.data(), length_.data(), d_embeddings.data());
  if (base_.config().pooling == nn::Pooling::kCls) {
    std::copy_n(d_embeddings.begin(), sequences * n, d_x_.begin());
  } else {
    mean_pool_backward(batch.starts, n, d_embeddings.data(), d_x_.data());
  }
  for (size_t i = c_.layers; i-- > 0;) layer_backward(parameters, batch, dropping, i, gradient);
  dropout(roll(dropping.stream, kEmbeddingDrop), dropping.rate, batch.rows() * n, d_x_.data());
  layer_norm_backward(norm_at(parameters, layout_.embedding_gain, layout_.embedding_bias), embedding_standard_.data(),
                      embedding_inverse_.data(), batch.rows(), d_x_.data(), gradient + layout_.embedding_gain,
                      gradient + layout_.embedding_bias, d_x_.data());
}

size_t Network::bytes(const nn::BertConfig& config, size_t rows, size_t longest) {
  const size_t n = config.hidden;
  const size_t layer = 9 * n + 2 * config.intermediate + config.heads * longest + 2;
  const size_t shared = 8 * n + config.intermediate;
  return rows * (config.layers * layer + shared) * sizeof(float);
}

}  // namespace hengshi::tune
