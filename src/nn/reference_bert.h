// reference_bert.h — the forward pass in plain fp32 over a checkpoint's own tensors: what tests hold the encoder to.
//
// Shapes:  as bert.h. Slow on purpose: one loop per formula.
// Source:  BERT (Devlin 2019); Hugging Face's BertModel for names.
#pragma once

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "base/check.h"
#include "nn/model_config.h"
#include "nn/safetensors.h"

namespace hengshi::nn {

class ReferenceBert {
 public:
  ReferenceBert(const BertConfig& config, Pooling pooling, const Safetensors& tensors)
      : c_(config), pooling_(pooling), tensors_(tensors) {}

  std::vector<float> forward(std::span<const int32_t> ids) const {
    Rows x(ids.size(), std::vector<float>(c_.hidden));
    const auto words = at("embeddings.word_embeddings.weight", {c_.vocabulary, c_.hidden});
    const auto positions = at("embeddings.position_embeddings.weight", {c_.positions, c_.hidden});
    const auto types = at("embeddings.token_type_embeddings.weight", {c_.types, c_.hidden});
    for (size_t t = 0; t < ids.size(); ++t) {
      const float* const word = &words[static_cast<size_t>(ids[t]) * c_.hidden];
      for (size_t i = 0; i < c_.hidden; ++i) x[t][i] = word[i] + positions[t * c_.hidden + i] + types[i];
    }
    normalise(x, "embeddings.LayerNorm");
    for (size_t l = 0; l < c_.layers; ++l) x = layer(x, "encoder.layer." + std::to_string(l) + ".");
    return pool(x);
  }

 private:
  using Rows = std::vector<std::vector<float>>;

  std::span<const float> at(const std::string& name, std::initializer_list<size_t> shape) const {
    const auto found = tensors_.tensor(name, std::vector<size_t>(shape));
    CHECK(found.has_value(), "tests give the reference a whole checkpoint");
    return *found;
  }

  Rows linear(const Rows& x, const std::string& name, size_t out) const {
    const size_t in = x[0].size();
    const auto weight = at(name + ".weight", {out, in});
    const auto bias = at(name + ".bias", {out});
    Rows y(x.size(), std::vector<float>(out));
    for (size_t t = 0; t < x.size(); ++t) {
      for (size_t n = 0; n < out; ++n) {
        float sum = bias[n];
        for (size_t k = 0; k < in; ++k) sum += x[t][k] * weight[n * in + k];
        y[t][n] = sum;
      }
    }
    return y;
  }

  void normalise(Rows& x, const std::string& name) const {
    const auto gain = at(name + ".weight", {c_.hidden});
    const auto bias = at(name + ".bias", {c_.hidden});
    for (auto& row : x) {
      double mean = 0;
      double variance = 0;
      for (const float v : row) mean += v / static_cast<double>(row.size());
      for (const float v : row) variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
      const double inverse = 1 / std::sqrt(variance + static_cast<double>(c_.epsilon));
      for (size_t i = 0; i < row.size(); ++i)
        row[i] = static_cast<float>((row[i] - mean) * inverse) * gain[i] + bias[i];
    }
  }

  Rows attention(const Rows& q, const Rows& k, const Rows& v) const {
    const size_t size = c_.head_size();
    Rows out(q.size(), std::vector<float>(c_.hidden));
    for (size_t first = 0; first < c_.hidden; first += size) {
      for (size_t i = 0; i < q.size(); ++i) {
        std::vector<double> weight(k.size());
        double sum = 0;
        for (size_t j = 0; j < k.size(); ++j) {
          double score = 0;
          for (size_t d = first; d < first + size; ++d) score += static_cast<double>(q[i][d] * k[j][d]);
          weight[j] = std::exp(score / std::sqrt(static_cast<double>(size)));
          sum += weight[j];
        }
        for (size_t j = 0; j < k.size(); ++j) {
          for (size_t d = first; d < first + size; ++d) out[i][d] += static_cast<float>(weight[j] / sum) * v[j][d];
        }
      }
    }
    return out;
  }

  static void add(Rows& to, const Rows& from) {
    for (size_t t = 0; t < to.size(); ++t) {
      for (size_t i = 0; i < to[t].size(); ++i) to[t][i] += from[t][i];
    }
  }

  Rows layer(const Rows& x, const std::string& name) const {
    const std::string self = name + "attention.self.";
    const Rows context = attention(linear(x, self + "query", c_.hidden), linear(x, self + "key", c_.hidden),
                                   linear(x, self + "value", c_.hidden));
    Rows y = linear(context, name + "attention.output.dense", c_.hidden);
    add(y, x);
    normalise(y, name + "attention.output.LayerNorm");
    Rows inner = linear(y, name + "intermediate.dense", c_.intermediate);
    for (auto& row : inner) {
      for (float& v : row) v = 0.5F * v * (1 + std::erf(v / std::sqrt(2.0F)));
    }
    Rows out = linear(inner, name + "output.dense", c_.hidden);
    add(out, y);
    normalise(out, name + "output.LayerNorm");
    return out;
  }

  std::vector<float> pool(const Rows& x) const {
    std::vector<float> out = x[0];
    for (size_t t = 1; pooling_ == Pooling::kMean && t < x.size(); ++t) {
      for (size_t i = 0; i < out.size(); ++i) out[i] += x[t][i];
    }
    double square = 0;
    for (const float v : out) square += static_cast<double>(v) * static_cast<double>(v);
    for (float& v : out) v /= static_cast<float>(std::sqrt(square));
    return out;
  }

  BertConfig c_;
  Pooling pooling_;
  const Safetensors& tensors_;
};

}  // namespace hengshi::nn
