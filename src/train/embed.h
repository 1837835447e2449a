// embed.h — the encoder of a language, and many questions through it.
//
// Shapes:  embeddings f32[texts, dim].
// Errors:  a missing model folder names itself, `scripts/setup` and `--models`.
// Threads: uses all cores; the result is the same on any number of them.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "nn/encoder.h"
#include "text/text.h"
#include "train/examples.h"

namespace hengshi::train {

// `folder`, or when it is empty that of the language's own encoder under `models`.
std::string encoder_folder(const std::string& folder, const std::string& models, text::Language language);
Result<std::unique_ptr<const nn::Encoder>> load_encoder(const std::string& folder, const std::string& models,
                                                        text::Language language);

struct Question {
  std::string text;
  uint32_t label = 0;
  bool foreign = false;
};

// Embeds the questions as they are written, as serving does, and keeps their normal forms for the n-grams.
Examples embed(const nn::Encoder& encoder, std::span<const Question> questions, bool progress);

// The same rows, the first `count` of them through another encoder.
Examples embed_again(const nn::Encoder& encoder, const Examples& rows, size_t count, bool progress);

// Embeds the built-in foreign questions and adds those that are not near any in-scope row of `train`.
void add_foreign(Examples& train, const nn::Encoder& encoder, text::Language language, uint32_t out_of_scope);

}  // namespace hengshi::train
