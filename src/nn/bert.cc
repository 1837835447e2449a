#include "nn/bert.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace hengshi::nn {

namespace {

constexpr size_t kFeedForwardRows = 64;  // a block's hidden activations stay in the second-level cache
constexpr size_t kValuePadding = 64;     // keeps rows of a power of two off the same cache set

template <typename T>
void at_least(std::vector<T>& v, size_t n) {
  if (v.size() < n) v.resize(n);
}

}  // namespace

struct Bert::Scratch {
  std::vector<float> x;        // [tokens, hidden] the residual stream
  std::vector<float> y;        // [tokens, hidden] after attention
  std::vector<float> qkv;      // [tokens, 3 · hidden]
  std::vector<float> context;  // [tokens, hidden]
  std::vector<float> inner;    // [kFeedForwardRows, intermediate]
  std::vector<float> heads;    // attention's own
  std::vector<int8_t> values;
  std::vector<float> scale;
  std::vector<float> zero;
  std::vector<int32_t> sum;

  void reserve(const BertConfig& c, size_t tokens) {
    const size_t block = std::min(tokens, kFeedForwardRows);
    at_least(x, tokens * c.hidden);
    at_least(y, tokens * c.hidden);
    at_least(qkv, tokens * 3 * c.hidden);
    at_least(context, tokens * c.hidden);
    at_least(inner, block * c.intermediate);
    at_least(heads, attention_scratch(tokens, c.head_size()));
    at_least(values, std::max(tokens * stride(c.hidden), block * stride(c.intermediate)));
    at_least(scale, tokens);
    at_least(zero, tokens);
    at_least(sum, tokens);
  }
  static size_t stride(size_t n) { return n + kOutliers + kValuePadding; }
  QuantisedRows rows_of(size_t n) { return {values.data(), stride(n), scale.data(), zero.data(), sum.data()}; }
};

class Bert::Loader {
 public:
  Loader(Bert& bert, const Safetensors& tensors)
      : bert_(bert), c_(bert.config_), tensors_(tensors), prefix_(prefix_of(tensors)) {}

  Result<void> embeddings() {
    TRY(const auto words, tensor("embeddings.word_embeddings.weight", c_.vocabulary, c_.hidden));
    TRY(const auto positions, tensor("embeddings.position_embeddings.weight", c_.positions, c_.hidden));
    TRY(const auto types, tensor("embeddings.token_type_embeddings.weight", c_.types, c_.hidden));
    const auto bytes = bert_.arena_.take<int8_t>(words.size());
    const auto scales = bert_.arena_.take<float>(c_.vocabulary);
    for (size_t row = 0; row < c_.vocabulary; ++row) {
      const size_t at = row * c_.hidden;
      scales[row] = quantise_weights(words.subspan(at, c_.hidden), bytes.subspan(at, c_.hidden));
    }
    const auto sums = bert_.arena_.take<float>(positions.size());
    for (size_t i = 0; i < sums.size(); ++i) sums[i] = positions[i] + types[i % c_.hidden];
    bert_.words_ = bytes;
    bert_.word_scales_ = scales;
    bert_.positions_ = sums;
    TRY(bert_.embedding_norm_, norm("embeddings.LayerNorm"));
    return {};
  }

  Result<Layer> layer(size_t index, const Norm& before) {
    const std::string at = "encoder.layer." + std::to_string(index) + ".";
    const std::string self = at + "attention.self.";
    Layer out;
    const float query_factor = 1.0F / std::sqrt(static_cast<float>(c_.head_size()));
    TRY(const auto q, part(self + "query", c_.hidden, c_.hidden, query_factor));
    TRY(const auto k, part(self + "key", c_.hidden, c_.hidden));
    TRY(const auto v, part(self + "value", c_.hidden, c_.hidden));
    out.qkv = pack_linear(std::array{q, k, v}, c_.hidden, find_outliers(before.bias), bert_.arena_);
    TRY(const auto o, part(at + "attention.output.dense", c_.hidden, c_.hidden));
    out.attention_output = pack_linear(std::array{o}, c_.hidden, {}, bert_.arena_);
    TRY(out.attention_norm, norm(at + "attention.output.LayerNorm"));
    TRY(const auto up, part(at + "intermediate.dense", c_.intermediate, c_.hidden));
    out.up = pack_linear(std::array{up}, c_.hidden, find_outliers(out.attention_norm.bias), bert_.arena_);
    TRY(const auto down, part(at + "output.dense", c_.hidden, c_.intermediate));
    out.down = pack_linear(std::array{down}, c_.intermediate, {}, bert_.arena_);
    TRY(out.output_norm, norm(at + "output.LayerNorm"));
    return out;
  }

  // Before memory is taken: a config.json that promises too much must not be believed.
  static Result<void> check_extent(const BertConfig& c, const Safetensors& tensors) {
    const std::string prefix = prefix_of(tensors);
    const std::string last = prefix + "encoder.layer." + std::to_string(c.layers - 1) + ".intermediate.dense.weight";
    TRY_OK(tensors.tensor(prefix + "embeddings.word_embeddings.weight", std::array{c.vocabulary, c.hidden}));
    TRY_OK(tensors.tensor(last, std::array{c.intermediate, c.hidden}));
    return {};
  }

  static size_t bytes(const BertConfig& c) {
    const size_t norms = 2 * arena_bytes(c.hidden, sizeof(float));
    const size_t layer = packed_linear_bytes(c.hidden, 3 * c.hidden) + packed_linear_bytes(c.hidden, c.hidden) +
                         packed_linear_bytes(c.hidden, c.intermediate) + packed_linear_bytes(c.intermediate, c.hidden) +
                         2 * norms;
    return c.layers * layer + norms + arena_bytes(c.vocabulary * c.hidden, 1) +
           arena_bytes(c.vocabulary, sizeof(float)) + arena_bytes(c.positions * c.hidden, sizeof(float));
  }

 private:
  // Checkpoints saved with a head keep the encoder under this name.
  static std::string prefix_of(const Safetensors& tensors) {
    return tensors.has("bert.embeddings.word_embeddings.weight") ? "bert." : "";
  }
  Result<std::span<const float>> tensor(const std::string& name, size_t rows, size_t columns) const {
    return tensors_.tensor(prefix_ + name, std::array{rows, columns});
  }
  Result<std::span<const float>> vector(const std::string& name, size_t n) const {
    return tensors_.tensor(prefix_ + name, std::array{n});
  }
  Result<LinearPart> part(const std::string& name, size_t out, size_t in, float factor = 1) const {
    LinearPart made;
    made.factor = factor;
    TRY(made.weight, tensor(name + ".weight", out, in));
    TRY(made.bias, vector(name + ".bias", out));
    return made;
  }
  Result<Norm> norm(const std::string& name) {
    TRY(const auto gain, vector(name + ".weight", c_.hidden));
    TRY(const auto bias, vector(name + ".bias", c_.hidden));
    return Norm{copy(gain), copy(bias)};
  }
  std::span<const float> copy(std::span<const float> from) {
    const auto to = bert_.arena_.take<float>(from.size());
    std::copy(from.begin(), from.end(), to.begin());
    return to;
  }

  Bert& bert_;
  const BertConfig& c_;
  const Safetensors& tensors_;
  std::string prefix_;
};

Result<Bert> Bert::load(const BertConfig& config, Pooling pooling, const Safetensors& tensors) {
  TRY_OK(Loader::check_extent(config, tensors));
  Bert bert(config, pooling, Loader::bytes(config));
  Loader loader(bert, tensors);
  TRY_OK(loader.embeddings());
  Norm before = bert.embedding_norm_;
  for (size_t i = 0; i < config.layers; ++i) {
    TRY(Layer layer, loader.layer(i, before));
    before = layer.output_norm;
    bert.layers_.push_back(layer);
  }
  return bert;
}

void Bert::normalise(const Kernels& kernels, const Norm& norm, size_t rows, float* x) const {
  kernels.layer_norm(x, rows, config_.hidden, norm.gain.data(), norm.bias.data(), config_.epsilon);
}

void Bert::embed(const Kernels& kernels, std::span<const int32_t> ids, Scratch& scratch) const {
  const size_t n = config_.hidden;
  for (size_t t = 0; t < ids.size(); ++t) {
    const auto id = static_cast<size_t>(ids[t]);
    kernels.embed(&scratch.x[t * n], &words_[id * n], word_scales_[id], &positions_[t * n], n);
  }
  normalise(kernels, embedding_norm_, ids.size(), scratch.x.data());
}

void Bert::attend(const Kernels& kernels, const Layer& layer, size_t tokens, size_t queries, Scratch& scratch) const {
  const size_t n = config_.hidden;
  const QuantisedRows rows = scratch.rows_of(n);
  kernels.quantise(scratch.x.data(), tokens, n, layer.qkv.outliers, rows);
  float* const qkv = scratch.qkv.data();
  if (queries == tokens) {
    kernels.linear(layer.qkv, rows, {.rows = tokens, .begin = 0, .count = 3 * n, .out = qkv, .out_stride = 3 * n});
  } else {
    kernels.linear(layer.qkv, rows, {.rows = queries, .begin = 0, .count = n, .out = qkv, .out_stride = 3 * n});
    kernels.linear(layer.qkv, rows, {.rows = tokens, .begin = n, .count = 2 * n, .out = qkv, .out_stride = 3 * n});
  }
  kernels.attention({.q = qkv,
                     .k = qkv + n,
                     .v = qkv + 2 * n,
                     .stride = 3 * n,
                     .query_rows = queries,
                     .tokens = tokens,
                     .heads = config_.heads,
                     .head_size = config_.head_size(),
                     .scratch = scratch.heads.data(),
                     .out = scratch.context.data()});
  kernels.quantise(scratch.context.data(), queries, n, layer.attention_output.outliers, rows);
  kernels.linear(layer.attention_output, rows,
                 {.rows = queries,
                  .begin = 0,
                  .count = n,
                  .out = scratch.y.data(),
                  .out_stride = n,
                  .epilogue = Epilogue::kResidual,
                  .residual = scratch.x.data()});
  normalise(kernels, layer.attention_norm, queries, scratch.y.data());
}

void Bert::feed_forward(const Kernels& kernels, const Layer& layer, size_t rows, Scratch& scratch) const {
  const size_t n = config_.hidden;
  const size_t wide = config_.intermediate;
  for (size_t first = 0; first < rows; first += kFeedForwardRows) {
    const size_t block = std::min(kFeedForwardRows, rows - first);
    float* const y = scratch.y.data() + first * n;
    float* const inner = scratch.inner.data();
    kernels.quantise(y, block, n, layer.up.outliers, scratch.rows_of(n));
    kernels.linear(
        layer.up, scratch.rows_of(n),
        {.rows = block, .begin = 0, .count = wide, .out = inner, .out_stride = wide, .epilogue = Epilogue::kGelu});
    kernels.quantise(inner, block, wide, layer.down.outliers, scratch.rows_of(wide));
    kernels.linear(layer.down, scratch.rows_of(wide),
                   {.rows = block,
                    .begin = 0,
                    .count = n,
                    .out = scratch.x.data() + first * n,
                    .out_stride = n,
                    .epilogue = Epilogue::kResidual,
                    .residual = y});
  }
  normalise(kernels, layer.output_norm, rows, scratch.x.data());
}

void Bert::pool(std::span<const float> x, size_t tokens, std::span<float> out) const {
  std::copy_n(x.begin(), config_.hidden, out.begin());
  for (size_t t = 1; pooling_ == Pooling::kMean && t < tokens; ++t) {
    for (size_t i = 0; i < config_.hidden; ++i) out[i] += x[t * config_.hidden + i];
  }
  float square = 0;
  for (const float v : out) square += v * v;
  const float inverse = 1.0F / std::max(std::sqrt(square), 1e-12F);
  for (float& v : out) v *= inverse;
}

void Bert::forward(const Kernels& kernels, std::span<const int32_t> ids, std::span<float> out) const {
  CHECK(!ids.empty() && ids.size() <= config_.positions, "the caller cuts the ids to the positions there are");
  CHECK(out.size() == config_.hidden, "the caller's vector has the encoder's dimension");
  thread_local Scratch scratch;
  scratch.reserve(config_, ids.size());
  embed(kernels, ids, scratch);
  for (size_t i = 0; i < layers_.size(); ++i) {
    // Nobody reads the last layer's other rows when only the first is pooled.
    const bool first_only = pooling_ == Pooling::kCls && i + 1 == layers_.size();
    const size_t rows = first_only ? 1 : ids.size();
    attend(kernels, layers_[i], ids.size(), rows, scratch);
    feed_forward(kernels, layers_[i], rows, scratch);
  }
  pool(scratch.x, ids.size(), out);
}

}  // namespace hengshi::nn
