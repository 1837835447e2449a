#include "tune/task.h"

#include <algorithm>
#include <cmath>

#include "tune/dice.h"
#include "tune/ops.h"

namespace hengshi::tune {

namespace {

constexpr uint64_t kHeadDrop = 1000;
constexpr float kSpread = 0.02F;  // of the first weights

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
  weight_ = layout.add("head.weight", {options_.classes, options_.dim}, true, depth);
  bias_ = layout.add("head.bias", {options_.classes}, false, depth);
}

void ClassTask::start(std::span<float> parameters, uint64_t seed) const {
  for (size_t i = 0; i < options_.classes * options_.dim; ++i) parameters[weight_ + i] = kSpread * roll_normal(seed, i);
  std::fill_n(&parameters[bias_], options_.classes, 0.0F);
}

void ClassTask::logits(const float* parameters, const Texts& texts, const Dropping& dropping) {
  const size_t n = texts.labels.size();
  const float scale = std::sqrt(static_cast<float>(options_.dim));
  input_.resize(n * options_.dim);
  for (size_t i = 0; i < input_.size(); ++i) input_[i] = texts.embeddings[i] * scale;
  dropout(roll(dropping.stream, kHeadDrop), dropping.rate, input_.size(), input_.data());
  logits_.resize(n * options_.classes);
  linear({parameters + weight_, parameters + bias_, options_.dim, options_.classes}, input_.data(), n, logits_.data());
}

Outcome ClassTask::learn(const float* parameters, const Texts& texts, const Dropping& dropping,
                         std::span<float> d_embeddings, float* gradient) {
  logits(parameters, texts, dropping);
  Outcome out = cross_entropy(texts.labels, options_.classes, options_.smoothing, logits_.data());
  linear_backward({parameters + weight_, parameters + bias_, options_.dim, options_.classes}, input_.data(),
                  texts.labels.size(), logits_.data(), gradient + weight_, gradient + bias_, d_embeddings.data());
  dropout(roll(dropping.stream, kHeadDrop), dropping.rate, input_.size(), d_embeddings.data());
  const float scale = std::sqrt(static_cast<float>(options_.dim));
  for (float& d : d_embeddings) d *= scale;
  if (options_.contrast > 0) out.loss += contrast(texts, options_.dim, options_, d_embeddings.data());
  return out;
}

Outcome ClassTask::test(const float* parameters, const Texts& texts) {
  logits(parameters, texts, {});
  return cross_entropy(texts.labels, options_.classes, 0, logits_.data());
}

std::vector<float> ClassTask::weight(std::span<const float> parameters) const {
  const float scale = std::sqrt(static_cast<float>(options_.dim));
  std::vector<float> out(options_.classes * options_.dim);
  for (size_t i = 0; i < out.size(); ++i) out[i] = parameters[weight_ + i] * scale;
  return out;
}

std::span<const float> ClassTask::bias(std::span<const float> parameters) const {
  return parameters.subspan(bias_, options_.classes);
}

}  // namespace hengshi::tune
