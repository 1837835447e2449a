#include "nn/embedding_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>

namespace hengshi::nn {
namespace {

// Counts what it is asked, and answers with the text's length and first byte.
class CountingEncoder final : public Encoder {
 public:
  explicit CountingEncoder(std::atomic<int>& asked) : asked_(asked) {}
  const std::string& name() const override { return name_; }
  const std::string& version() const override { return name_; }
  bool verified() const override { return true; }
  size_t dim() const override { return 2; }
  size_t max_tokens() const override { return 512; }
  size_t vocabulary() const override { return 0; }
  double semantic_threshold() const override { return 0.9; }
  size_t memory_bytes() const override { return 100; }
  std::vector<int32_t> tokenize(std::string_view) const override { return {}; }
  size_t count_tokens(std::string_view) const override { return 0; }
  void encode_ids(std::span<const int32_t>, std::span<float>) const override {}
  void encode(std::string_view text, std::span<float> out) const override {
    ++asked_;
    out[0] = static_cast<float>(text.size());
    out[1] = text.empty() ? 0 : static_cast<float>(text[0]);
  }

 private:
  std::string name_ = "counting";
  std::atomic<int>& asked_;
};

std::vector<float> vector_of(const Encoder& encoder, std::string_view text) {
  std::vector<float> out(encoder.dim());
  encoder.encode(text, out);
  return out;
}

class EmbeddingCacheTest : public testing::Test {
 public:
  std::unique_ptr<const Encoder> cached(size_t bytes) {
    return with_embedding_cache(std::make_unique<CountingEncoder>(asked), bytes);
  }
  std::atomic<int> asked = 0;
};

TEST_F(EmbeddingCacheTest, AQuestionAskedAgainIsNotEncodedAgain) {
  const auto encoder = cached(size_t{1} << 20);
  const auto first = vector_of(*encoder, "reset my router");
  EXPECT_EQ(vector_of(*encoder, "reset my router"), first);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(vector_of(*encoder, "Reset my router")[1], 'R');  // as it is written, letter for letter
  EXPECT_EQ(asked, 2);
  EXPECT_EQ(encoder->memory_bytes(), 100U + (1 << 20));
}

TEST_F(EmbeddingCacheTest, WhatIsTooLongIsNotKept) {
  const auto encoder = cached(size_t{1} << 20);
  const std::string text(513, 'x');
  vector_of(*encoder, text);
  vector_of(*encoder, text);
  EXPECT_EQ(asked, 2);
}

TEST_F(EmbeddingCacheTest, StaysWithinItsBytesAndKeepsWhatIsAskedAgain) {
  const auto encoder = cached(size_t{16} * 2000);  // ten questions a shard or so
  for (int round = 0; round < 50; ++round) {
    vector_of(*encoder, "the favourite");
    for (int i = 0; i < 40; ++i) vector_of(*encoder, "once " + std::to_string(round * 40 + i));
  }
  EXPECT_EQ(asked, 1 + 50 * 40);
  for (int i = 0; i < 20; ++i) vector_of(*encoder, "once " + std::to_string(i));
  EXPECT_EQ(asked, 1 + 50 * 40 + 20);  // long gone
}

TEST_F(EmbeddingCacheTest, TooSmallForOneItKeepsNone) {
  const auto encoder = cached(size_t{16} * 10);
  vector_of(*encoder, "a question");
  vector_of(*encoder, "a question");
  EXPECT_EQ(asked, 2);
}

TEST_F(EmbeddingCacheTest, ManyThreadsGetTheRightVectors) {
  const auto encoder = cached(size_t{16} * 1000);
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i) {
        const std::string text = std::string(static_cast<size_t>(i % 97 + 1), static_cast<char>('a' + i % 7));
        const auto vector = vector_of(*encoder, text);
        ASSERT_EQ(vector[0], static_cast<float>(text.size()));
        ASSERT_EQ(vector[1], static_cast<float>(text[0]));
      }
    });
  }
}

}  // namespace
}  // namespace hengshi::nn
