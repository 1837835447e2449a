#include "light/judge.h"

#include <algorithm>
#include <cmath>

#include "text/text.h"

namespace hengshi::light {

namespace {

float log_sum(std::span<const float> logits) {
  const float top = *std::max_element(logits.begin(), logits.end());
  float sum = 0;
  for (const float x : logits) sum += std::exp(x - top);
  return top + std::log(sum);
}

// Log-odds of a log-probability, kept finite.
float log_odds(float log_probability) {
  const float p = std::clamp(std::exp(log_probability), 1e-6F, 1 - 1e-6F);
  return std::log(p / (1 - p));
}

// -log of the probability whose log-odds are -x.
float softplus(float x) { return std::max(x, 0.0F) + std::log1p(std::exp(-std::fabs(x))); }
constexpr float kRare = 30;     // -log of a probability: from here on it is, but for its sign, the log-odds too
constexpr float kSure = 1e-6F;  // likewise: below, the log-odds would have no bound

size_t best_of(std::span<const float> values) {
  return static_cast<size_t>(std::max_element(values.begin(), values.end()) - values.begin());
}

float second_of(std::span<const float> values, size_t best) {
  float second = -30;
  for (size_t i = 0; i < values.size(); ++i) {
    if (i != best) second = std::max(second, values[i]);
  }
  return second;
}

}  // namespace

float Confidence::log_odds(const Regression& of, const Signals& signals, uint32_t intent) const {
  float sum = of.bias;
  for (size_t i = 0; i < kSignals; ++i) sum += of.weight[i] * (signals[i] - mean[i]) / deviation[i];
  return of.per_intent.empty() ? sum : sum + of.per_intent[intent];
}

float Confidence::scope(const Signals& signals, uint32_t intent) const {
  return 1.0F / (1.0F + std::exp(-log_odds(in_scope, signals, intent)));
}

float Confidence::probability(const Signals& signals, uint32_t intent) const {
  const float both = log_odds_of_both(log_odds(in_scope, signals, intent), log_odds(right, signals, intent));
  return 1.0F / (1.0F + std::exp(-(slope * both + offset)));
}

float log_odds_of_both(float first, float second) {
  const float surprise = softplus(-first) + softplus(-second);
  return surprise > kRare ? -surprise : -std::log(std::expm1(std::max(surprise, kSure)));
}

void log_softmax(std::span<float> logits) {
  const float total = log_sum(logits);
  for (float& x : logits) x -= total;
}

void fuse(const Fusion& fusion, const Scores& scores, std::vector<float>& out) {
  out.resize(scores.ngram.size());
  // A shift of one head's logits shifts all classes alike, so its log-softmax is not needed here.
  for (size_t i = 0; i < out.size(); ++i) out[i] = fusion.ngram * scores.ngram[i] + fusion.encoder * scores.encoder[i];
  log_softmax(out);
}

Scores score(const Heads& heads, text::Language language, std::string_view normalised,
             std::span<const float> embedding) {
  thread_local Grams grams;
  thread_local Sparse sparse;
  extract_grams(normalised, language, grams);
  heads.ngram.vocabulary.weigh(grams, sparse);
  Scores out;
  out.ngram.resize(heads.classes());
  out.encoder.resize(heads.classes());
  heads.ngram.logits(sparse, out.ngram);
  heads.encoder.logits(embedding, out.encoder);
  out.unknown = sparse.unknown;
  out.log_length = std::log1p(static_cast<float>(text::count_characters(normalised)));
  return out;
}

Reading read(const Heads& heads, const Fusion& fusion, const Scores& scores, std::span<const float> embedding) {
  thread_local std::vector<float> fused, ngram, encoder;
  fuse(fusion, scores, fused);
  ngram = scores.ngram;
  encoder = scores.encoder;
  const size_t n = heads.intents;
  const float ngram_total = log_sum(ngram), encoder_total = log_sum(encoder);
  const std::span<const float> in_scope(fused.data(), n), in_ngram(ngram.data(), n), in_encoder(encoder.data(), n);
  const size_t best = best_of(in_scope);
  const bool agree = best_of(in_ngram) == best_of(in_encoder);
  Reading out;
  out.intent = static_cast<uint32_t>(best);
  out.signals = {log_odds(fused[best]),
                 fused[best] - second_of(in_scope, best),
                 log_odds(fused[n]),
                 encoder[n] - encoder_total,
                 ngram[n] - ngram_total,
                 agree ? 1.0F : 0.0F,
                 log_odds(encoder[best] - encoder_total),
                 log_odds(ngram[best] - ngram_total),
                 log_sum(in_encoder),
                 log_sum(in_ngram),
                 scores.unknown,
                 scores.log_length,
                 heads.examples.to_centroid(best, embedding),
                 heads.examples.to_nearest(best, embedding)};
  return out;
}

}  // namespace hengshi::light
