// toy.h — for tests: an encoder that needs no model files, and separable questions for it.
//
// Shapes:  embedding f32[48]: a bag of hashed words, L2 norm 1.
// Threads: immutable.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "nn/encoder.h"
#include "text/text.h"
#include "train/rng.h"

namespace hengshi::train {

class ToyEncoder final : public nn::Encoder {
 public:
  const std::string& name() const override { return name_; }
  const std::string& version() const override { return version_; }
  size_t dim() const override { return 48; }
  bool verified() const override { return true; }
  size_t max_tokens() const override { return 512; }
  size_t vocabulary() const override { return 0; }
  double semantic_threshold() const override { return 0.9; }
  size_t memory_bytes() const override { return 0; }
  std::vector<int32_t> tokenize(std::string_view) const override { return {}; }
  size_t count_tokens(std::string_view) const override { return 0; }
  void encode_ids(std::span<const int32_t>, std::span<float>) const override {}

  // Each word points somewhere of its own.
  void encode(std::string_view text, std::span<float> out) const override {
    const std::string normal = text::normalise(text) + " ";
    std::fill(out.begin(), out.end(), 1e-3F);
    for (size_t at = 0, end = 0; (end = normal.find(' ', at)) != std::string::npos; at = end + 1) {
      uint64_t seed = 1;
      for (size_t i = at; i < end; ++i) seed = seed * 131 + static_cast<uint8_t>(normal[i]);
      Rng rng(seed);
      for (float& x : out) x += rng.normal();
    }
    float squares = 0;
    for (const float x : out) squares += x * x;
    for (float& x : out) x /= std::sqrt(squares);
  }

 private:
  std::string name_ = "toy", version_ = "toy-1";
};

// "please lamp now" of intent "lamp": its own word among fillers.
inline std::string toy_question(std::string_view word, Rng& rng) {
  static constexpr std::array<std::string_view, 8> kFillers = {"please", "now", "can", "you", "the", "my", "how", "do"};
  std::string out;
  for (size_t i = 0, n = 1 + rng.below(2); i < n; ++i) out.append(kFillers[rng.below(kFillers.size())]).append(" ");
  out += word;
  for (size_t i = 0, n = rng.below(3); i < n; ++i) out.append(" ").append(kFillers[rng.below(kFillers.size())]);
  return out;
}

}  // namespace hengshi::train
