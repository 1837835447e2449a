#include "tune/task.h"

#include <algorithm>
#include <cmath>

#include "tune/dice.h"
#include "tune/ops.h"

namespace hengshi::tune {

namespace {

constexpr uint64_t kInputDrop = 1000, kHiddenDrop = 1001;
constexpr float kHiddenFactor = 3;  // the wide hidden layer drops so much more

}  // namespace

Outcome cross_entropy(std::span<const uint32_t> labels, size_t classes, float smoothing, float* logits) {
  Outcome out;
  const float share = 1.0F / static_cast<float>(labels.size());
  const float spread = smoothing / static_cast<float>(classes);
  for (const uint32_t label : labels) {
    const auto top = std::max_element(logits, logits + classes);
    out.right += static_cast<size_t>(top - logits) == label;
    const float highest = *top;
    double sum = 0, all = 0;
    for (size_t k = 0; k < classes; ++k) {
      sum += std::exp(static_cast<double>(logits[k] - highest));
      all += static_cast<double>(logits[k] - highest);
    }
    const double total = std::log(sum);
    out.loss +=
        total - static_cast<double>((1 - smoothing) * (logits[label] - highest)) - static_cast<double>(spread) * all;
    for (size_t k = 0; k < classes; ++k) {
      const auto p = static_cast<float>(std::exp(static_cast<double>(logits[k] - highest) - total));
      logits[k] = (p - spread - (k == label ? 1 - smoothing : 0.0F)) * share;
    }
    logits += classes;
  }
  return out;
}

double contrast(const Texts& texts, size_t dim, const ClassOptions& options, float* d) {
  const size_t n = texts.labels.size();
  const auto row = [&](size_t i) { return &texts.embeddings[i * dim]; };
  const float by = options.contrast / options.temperature / static_cast<float>(n);
  std::vector<float> p(n);
  double loss = 0;
  for (size_t i = 0; i < n; ++i) {
    size_t fellows = 0;
    for (size_t j = 0; j < n; ++j) fellows += j != i && texts.labels[j] == texts.labels[i];
    if (fellows == 0 || texts.labels[i] == options.diverse) continue;
    float top = -1e30F;
    for (size_t j = 0; j < n; ++j) {
      p[j] = j == i ? -1e30F : dot(row(i), row(j), dim) / options.temperature;
      top = std::max(top, p[j]);
    }
    double sum = 0;
    for (size_t j = 0; j < n; ++j) sum += static_cast<double>(std::exp(p[j] - top));
    const double total = static_cast<double>(top) + std::log(sum);
    const float each = 1.0F / static_cast<float>(fellows);
    for (size_t j = 0; j < n; ++j) {
      if (j == i) continue;
      const bool fellow = texts.labels[j] == texts.labels[i];
      if (fellow) loss += static_cast<double>(each) * (total - static_cast<double>(p[j]));
      const float g = by * (static_cast<float>(std::exp(static_cast<double>(p[j]) - total)) - (fellow ? each : 0.0F));
      for (size_t k = 0; k < dim; ++k) {
        d[i * dim + k] += g * row(j)[k];
        d[j * dim + k] += g * row(i)[k];
      }
    }
  }
  return loss * static_cast<double>(options.contrast);
}

void ClassTask::lay_out(Layout& layout) {
  const size_t depth = layout.layers.size() + 1;
  w1_ = layout.add("head.inner.weight", {options_.hidden, options_.dim}, true, depth);
  b1_ = layout.add("head.inner.bias", {options_.hidden}, false, depth);
  w2_ = layout.add("head.outer.weight", {options_.classes, options_.hidden}, true, depth);
  b2_ = layout.add("head.outer.bias", {options_.classes}, false, depth);
}

void ClassTask::start(std::span<float> parameters, uint64_t seed) const {
  const auto fill = [&](size_t at, size_t n, float spread, uint64_t part) {
    for (size_t i = 0; i < n; ++i) parameters[at + i] = spread * roll_normal(roll(seed, part), i);
  };
  fill(w1_, options_.hidden * options_.dim, std::sqrt(2.0F / static_cast<float>(options_.dim)), 1);
  fill(b1_, options_.hidden, 0, 2);
  fill(w2_, options_.classes * options_.hidden, std::sqrt(1.0F / static_cast<float>(options_.hidden)), 3);
  fill(b2_, options_.classes, 0, 4);
}

Linear ClassTask::inner(const float* parameters) const {
  return {parameters + w1_, parameters + b1_, options_.dim, options_.hidden};
}

Linear ClassTask::outer(const float* parameters) const {
  return {parameters + w2_, parameters + b2_, options_.hidden, options_.classes};
}

void ClassTask::logits(const float* parameters, const Texts& texts, const Dropping& dropping) {
  const size_t n = texts.labels.size();
  const float scale = std::sqrt(static_cast<float>(options_.dim));
  input_.resize(n * options_.dim);
  for (size_t i = 0; i < input_.size(); ++i) input_[i] = texts.embeddings[i] * scale;
  dropout(roll(dropping.stream, kInputDrop), dropping.rate, input_.size(), input_.data());
  hidden_.resize(n * options_.hidden);
  linear(inner(parameters), input_.data(), n, hidden_.data());
  alive_.assign(hidden_.size(), 1.0F);
  dropout(roll(dropping.stream, kHiddenDrop), kHiddenFactor * dropping.rate, alive_.size(), alive_.data());
  for (size_t i = 0; i < hidden_.size(); ++i) alive_[i] = hidden_[i] > 0 ? alive_[i] : 0.0F;
  multiply_by(alive_.data(), alive_.size(), hidden_.data());
  logits_.resize(n * options_.classes);
  linear(outer(parameters), hidden_.data(), n, logits_.data());
}

Outcome ClassTask::learn(const float* parameters, const Texts& texts, const Dropping& dropping,
                         std::span<float> d_embeddings, float* gradient) {
  const size_t n = texts.labels.size();
  logits(parameters, texts, dropping);
  Outcome out = cross_entropy(texts.labels, options_.classes, options_.smoothing, logits_.data());
  d_hidden_.resize(hidden_.size());
  linear_backward(outer(parameters), hidden_.data(), n, logits_.data(), gradient + w2_, gradient + b2_,
                  d_hidden_.data());
  multiply_by(alive_.data(), alive_.size(), d_hidden_.data());
  linear_backward(inner(parameters), input_.data(), n, d_hidden_.data(), gradient + w1_, gradient + b1_,
                  d_embeddings.data());
  dropout(roll(dropping.stream, kInputDrop), dropping.rate, input_.size(), d_embeddings.data());
  const float scale = std::sqrt(static_cast<float>(options_.dim));
  for (float& d : d_embeddings) d *= scale;
  if (options_.contrast > 0) out.loss += contrast(texts, options_.dim, options_, d_embeddings.data());
  return out;
}

Outcome ClassTask::test(const float* parameters, const Texts& texts) {
  logits(parameters, texts, {});
  return cross_entropy(texts.labels, options_.classes, 0, logits_.data());
}

ClassTask::Head ClassTask::head(std::span<const float> parameters) const {
  const size_t dim = options_.dim, hidden = options_.hidden, classes = options_.classes;
  const float scale = std::sqrt(static_cast<float>(dim));
  const auto bias = [&](size_t at, size_t n) {
    return std::vector<float>(parameters.begin() + static_cast<long>(at),
                              parameters.begin() + static_cast<long>(at + n));
  };
  Head out{hidden, std::vector<float>(dim * hidden), bias(b1_, hidden), std::vector<float>(hidden * classes),
           bias(b2_, classes)};
  for (size_t h = 0; h < hidden; ++h) {
    for (size_t i = 0; i < dim; ++i) out.w1[i * hidden + h] = scale * parameters[w1_ + h * dim + i];
    for (size_t k = 0; k < classes; ++k) out.w2[h * classes + k] = parameters[w2_ + k * hidden + h];
  }
  return out;
}

}  // namespace hengshi::tune
