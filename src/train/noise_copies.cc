#include "train/noise_copies.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>
#include <utility>

#include "text/text.h"

namespace hengshi::train {

namespace {

constexpr double kCopies = 3, kMostCopies = 60000;

}  // namespace

std::optional<Noise> noise_of(text::Language language) {
  auto noise = Noise::load(language);
  return noise ? std::optional(*std::move(noise)) : std::nullopt;
}

double copies_per_row(std::optional<double> asked, size_t rows) {
  return asked.value_or(std::min(kCopies, kMostCopies / static_cast<double>(std::max<size_t>(rows, 1))));
}

Copies noisy_copies(std::span<const Question> rows, const Noise& noise, const CopyOptions& options) {
  std::unordered_map<std::string, uint32_t> labels;
  for (const Question& row : rows) labels.emplace(text::normalise(row.text), row.label);
  Copies out;
  Rng rng(options.seed);
  for (size_t i = 0; i < rows.size(); ++i) {
    // What is due after this row less what was due before it: any share is spread evenly over the rows.
    const auto due = [&](size_t n) {
      return static_cast<size_t>(std::floor(options.per_row * static_cast<double>(n)));
    };
    for (size_t n = due(i + 1) - due(i); n > 0; --n) {
      std::string text = noise.corrupt(rows[i].text, options.errors, options.mix, rng);
      if (text == rows[i].text) continue;
      const auto same = labels.find(text::normalise(text));
      if (same != labels.end() && same->second != rows[i].label) continue;
      out.questions.push_back({std::move(text), rows[i].label, rows[i].foreign});
      out.origins.push_back(i);
    }
  }
  return out;
}

std::vector<Question> with_errors(std::span<const Question> rows, size_t every, const Noise& noise, uint64_t seed) {
  std::vector<Question> out(rows.begin(), rows.end());
  Rng rng(seed);
  for (size_t i = 0; i < out.size(); i += every) out[i].text = noise.corrupt(out[i].text, 1, NoiseMix::kTyping, rng);
  return out;
}

void add_copies(Examples& rows, const nn::Encoder& encoder, const Noise& noise, double per_row, uint64_t seed,
                bool progress) {
  std::vector<Question> written;
  written.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) written.push_back({rows.texts[i], rows.labels[i], rows.foreign[i] != 0});
  Copies copies = noisy_copies(written, noise, {per_row, 1, NoiseMix::kAll, seed});
  const Examples more = embed(encoder, copies.questions, progress);
  for (size_t i = 0; i < more.size(); ++i) {
    rows.add(more.normalised[i], more.labels[i], more.embedding(i), more.foreign[i] != 0, more.texts[i]);
  }
  rows.origins = std::move(copies.origins);
}

}  // namespace hengshi::train
