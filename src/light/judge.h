// judge.h — from the two heads' scores to one intent and the probability that answering with it is right.
//
// Shapes:  logits f32[classes], the last class is "out of scope"; signals f32[kSignals].
// Units:   confidence in [0, 1].
// Errors:  none.
// Threads: pure.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "light/heads.h"

namespace hengshi::light {

// How much each head's log-probability counts; fitted on held-out rows.
struct Fusion {
  float ngram = 0.5F, encoder = 0.5F;
};

inline constexpr size_t kSignals = 14;
using Signals = std::array<float, kSignals>;

// A logistic regression over standardised signals, and what is particular to the intent named.
struct Regression {
  Signals weight{};
  float bias = 0;
  std::vector<float> per_intent;  // [intents] log-odds beside the map of all; empty: the intents are alike
};

// An answer is right when the question is in scope and, being so, has the intent named: two regressions, their product,
// then Platt's two numbers.
struct Confidence {
  Signals mean{}, deviation{};
  Regression in_scope, right;
  float slope = 1, offset = 0;

  float log_odds(const Regression& of, const Signals& signals, uint32_t intent) const;
  float scope(const Signals& signals, uint32_t intent) const;  // probability that the question is in scope
  float probability(const Signals& signals, uint32_t intent) const;
};

// Log-odds of both of two things, by the log-odds of each: of the second, if the first holds.
float log_odds_of_both(float first, float second);

// What the heads say of one question; the raw material of every signal, whichever fusion is in force.
struct Scores {
  std::vector<float> ngram, encoder;  // logits [classes]
  float unknown = 0;                  // share of unseen grams
  float log_length = 0;               // of the characters of the normal form
};

Scores score(const Heads& heads, text::Language language, std::string_view normalised,
             std::span<const float> embedding);

struct Reading {
  uint32_t intent = 0;  // the best in-scope intent
  Signals signals{};
};

Reading read(const Heads& heads, const Fusion& fusion, const Scores& scores, std::span<const float> embedding);

// Log-probabilities of the fused classes.
void fuse(const Fusion& fusion, const Scores& scores, std::vector<float>& out);
void log_softmax(std::span<float> logits);

}  // namespace hengshi::light
