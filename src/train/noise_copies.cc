#include "train/noise_copies.h"

#include <cmath>
#include <string>
#include <unordered_map>

#include "text/text.h"

namespace hengshi::train {

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

std::vector<Question> as_written(const Examples& rows) {
  std::vector<Question> out;
  out.reserve(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) out.push_back({rows.texts[i], rows.labels[i], rows.foreign[i] != 0});
  return out;
}

Examples joined(const Examples& rows, const Examples& more) {
  Examples out = rows;
  for (size_t i = 0; i < more.size(); ++i) {
    out.add(more.normalised[i], more.labels[i], more.embedding(i), more.foreign[i] != 0, more.texts[i]);
  }
  return out;
}

}  // namespace hengshi::train
