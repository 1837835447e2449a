// fit_heads.h — fits the heads of the light model to labelled questions.
//
// Errors:  none: any labelled rows give heads; whether they are any good is what held-out rows tell.
// Threads: several fits may run at once; the result depends on the data and the seed only.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <cstdint>
#include <span>

#include "light/heads.h"
#include "text/text.h"
#include "train/examples.h"

namespace hengshi::train {

struct Task {
  size_t intents = 0;
  text::Language language = text::Language::kOther;
};

// Passes over the rows, when there should be so many over rows without noisy copies: a copy stands for another pass.
size_t passes_over(const Examples& train, size_t without_copies);

// Multinomial logistic regression by stochastic gradient descent; L2 pulls towards zero.
light::NgramHead fit_ngram_head(const Examples& train, const Task& task, uint64_t seed);

// One hidden layer; label smoothing, dropout, AdamW with a cosine rate.
light::EncoderHead fit_encoder_head(const Examples& train, const Task& task, uint64_t seed);

// Centroids, and up to a handful of examples of every intent.
light::Examples pick_examples(const Examples& train, const Task& task, uint64_t seed);

light::Heads fit_heads(const Examples& train, const Task& task, uint64_t seed);

}  // namespace hengshi::train
