#include "train/embed.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "train/foreign.h"
#include "train/parallel.h"
#include "train/progress.h"

namespace hengshi::train {

namespace {

constexpr size_t kChunk = 64;
constexpr float kTooNear = 0.85F;  // cosine of a foreign question to a phrasing, from which it may well be in scope

float cosine(std::span<const float> a, std::span<const float> b) {
  float sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

bool near_in_scope(const Examples& train, std::span<const float> embedding, uint32_t out_of_scope) {
  for (size_t i = 0; i < train.size(); ++i) {
    if (train.labels[i] != out_of_scope && cosine(train.embedding(i), embedding) > kTooNear) return true;
  }
  return false;
}

void encode_first(const nn::Encoder& encoder, Examples& rows, size_t count, bool progress) {
  rows.dim = encoder.dim();
  rows.embeddings.resize(rows.size() * rows.dim);
  Progress bar("encoding", count, progress);
  parallel_for((count + kChunk - 1) / kChunk, [&](size_t chunk) {
    const size_t from = chunk * kChunk, to = std::min(from + kChunk, count);
    for (size_t i = from; i < to; ++i) encoder.encode(rows.texts[i], {&rows.embeddings[i * rows.dim], rows.dim});
    bar.advance(to - from);
  });
}

}  // namespace

std::string encoder_folder(const std::string& folder, const std::string& models, text::Language language) {
  static constexpr std::array kOwn = {"bge-small-zh-v1.5", "all-minilm-l6-v2", "other"};
  return folder.empty() ? fmt::format("{}/{}", models, kOwn.at(static_cast<size_t>(language))) : folder;
}

Result<std::unique_ptr<const nn::Encoder>> load_encoder(const std::string& folder, const std::string& models,
                                                        text::Language language) {
  auto encoder = nn::Encoder::load(encoder_folder(folder, models, language));
  if (!encoder && encoder.error().code == ErrorCode::kNotFound && folder.empty()) {
    encoder.error().message += ", --models names another folder";
  }
  return encoder;
}

Examples embed(const nn::Encoder& encoder, std::span<const Question> questions, bool progress) {
  Examples out;
  for (const Question& question : questions) {
    out.texts.push_back(question.text);
    out.normalised.push_back(text::normalise(question.text));
    out.labels.push_back(question.label);
    out.foreign.push_back(question.foreign ? 1 : 0);
  }
  encode_first(encoder, out, out.size(), progress);
  return out;
}

Examples embed_again(const nn::Encoder& encoder, const Examples& rows, size_t count, bool progress) {
  Examples out = rows;
  encode_first(encoder, out, count, progress);
  return out;
}

void add_foreign(Examples& train, const nn::Encoder& encoder, text::Language language, uint32_t out_of_scope) {
  std::vector<Question> questions;
  for (std::string& text : foreign_questions(language)) questions.push_back({std::move(text), out_of_scope, true});
  const Examples foreign = embed(encoder, questions, false);
  for (size_t i = 0; i < foreign.size(); ++i) {
    if (near_in_scope(train, foreign.embedding(i), out_of_scope)) continue;
    train.add(foreign.normalised[i], out_of_scope, foreign.embedding(i), true, foreign.texts[i]);
  }
}

}  // namespace hengshi::train
