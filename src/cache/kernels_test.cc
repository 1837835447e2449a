#include "cache/kernels.h"

#include <gtest/gtest.h>

#include <random>

#include "cache/test_entries.h"
#include "cache/vector_code.h"

namespace hengshi::cache {
namespace {

TEST(Kernels, EveryLevelGivesTheSameIntegers) {
  std::mt19937_64 random(1);
  std::vector<Block> blocks(37);
  for (Block& block : blocks) {
    for (uint64_t& word : block.words) word = random();
  }
  Code code;
  for (uint64_t& word : code) word = random();
  std::vector<int8_t> a(512), b(512);
  for (size_t i = 0; i < a.size(); ++i) {
    a[i] = static_cast<int8_t>(random() % 255 - 127);
    b[i] = static_cast<int8_t>(random() % 255 - 127);
  }
  std::vector<uint16_t> expected(blocks.size() * kBlockCodes), got(expected.size());
  plain::distances(blocks.data(), blocks.size(), code.data(), expected.data());
  for (const Kernels& level : runnable_kernels()) {
    level.distances(blocks.data(), blocks.size(), code.data(), got.data());
    EXPECT_EQ(got, expected) << level.name;
    for (size_t n = 64; n <= a.size(); n += 64) {
      EXPECT_EQ(level.dot(a.data(), b.data(), n), plain::dot(a.data(), b.data(), n)) << level.name << n;
    }
  }
}

TEST(VectorCode, Int8CosineIsCloseToFloat) {
  std::mt19937_64 random(2);
  for (const size_t dim : {3u, 384u, 512u, 1000u}) {
    for (int i = 0; i < 20; ++i) {
      const auto a = random_unit(random, dim), b = near(a, random, 0.5f);
      const auto x = quantise(a), y = quantise(b);
      ASSERT_TRUE(x && y);
      const double dot = plain::dot(x->values.data(), y->values.data(), x->values.size());
      EXPECT_NEAR(dot * x->scale * y->scale, cosine(a, b), 0.01);
    }
  }
}

TEST(VectorCode, DistanceFollowsAngle) {
  std::mt19937_64 random(3);
  for (const size_t dim : {384u, 512u, 768u}) {
    double deviation = 0;
    for (int i = 0; i < 100; ++i) {
      const auto a = random_unit(random, dim), b = near(a, random, 0.6f);
      const Code x = sign_code(quantise(a)->values), y = sign_code(quantise(b)->values);
      int distance = 0;
      for (size_t w = 0; w < kCodeWords; ++w) distance += std::popcount(x[w] ^ y[w]);
      deviation += distance - 512 * std::acos(cosine(a, b)) / M_PI;
    }
    EXPECT_LT(std::abs(deviation / 100), 5) << dim;
  }
}

TEST(VectorCode, RefusesWhatIsNoVector) {
  EXPECT_FALSE(quantise({}));
  EXPECT_FALSE(quantise(std::vector<float>(8, 0.0f)));
  EXPECT_FALSE(quantise(std::vector<float>{1, NAN}));
  EXPECT_FALSE(quantise(std::vector<float>{1, INFINITY}));
}

}  // namespace
}  // namespace hengshi::cache
