#include "nn/kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "nn/packing.h"

namespace hengshi::nn {
namespace {

class KernelsTest : public testing::TestWithParam<CpuLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > detect_cpu()) GTEST_SKIP() << "skipped: this CPU has no " << cpu_level_name(GetParam());
  }
  const Kernels& k() const { return kernels(GetParam()); }

  std::vector<float> random(size_t n, float spread = 1) {
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> out(n);
    for (float& v : out) v = normal(random_);
    return out;
  }

 private:
  std::mt19937 random_{3};
};

struct Quantised {
  std::vector<int8_t> values;
  std::vector<float> scale;
  std::vector<float> zero;
  std::vector<int32_t> sum;
  size_t stride;

  Quantised(size_t rows, size_t n)
      : values(rows * (n + kOutliers + 64)), scale(rows), zero(rows), sum(rows), stride(n + kOutliers + 64) {}
  QuantisedRows view() { return {values.data(), stride, scale.data(), zero.data(), sum.data()}; }

  // What the numbers stand for.
  double value(size_t row, size_t i, std::span<const uint16_t> outliers) const {
    const int8_t* const at = &values[row * stride];
    double steps = at[outliers.size() + i] - static_cast<double>(zero[row]);
    for (size_t o = 0; o < outliers.size(); ++o) steps += outliers[o] == i ? 16.0 * at[o] : 0.0;
    return steps * static_cast<double>(scale[row]);
  }
};

TEST_P(KernelsTest, QuantisesWithinHalfAStepAndLeavesItsInputAlone) {
  const std::vector<uint16_t> outliers = {3, 17, 40, 63, 64, 100, 126, 127};
  for (const bool with : {false, true}) {
    const std::span<const uint16_t> chosen(outliers.data(), with ? outliers.size() : 0);
    auto x = random(size_t{5} * 128);
    for (size_t r = 0; r < 5; ++r) x[r * 128 + 17] = -30;
    std::fill_n(x.begin() + 128, 128, 0.0F);
    const auto before = x;
    Quantised q(5, 128);
    k().quantise(x.data(), 5, 128, chosen, q.view());
    EXPECT_EQ(x, before);
    for (size_t r = 0; r < 5; ++r) {
      int32_t sum = 0;
      for (size_t i = 0; i < 128; ++i) {
        const double step = static_cast<double>(q.scale[r]);
        EXPECT_NEAR(q.value(r, i, chosen), static_cast<double>(x[r * 128 + i]), 0.51 * step) << r << " " << i;
        sum += q.values[r * q.stride + chosen.size() + i];
      }
      for (size_t o = 0; o < chosen.size(); ++o) sum += 16 * q.values[r * q.stride + o];
      EXPECT_EQ(q.sum[r], sum);
    }
    // An outlier must not stretch the grid of the others.
    EXPECT_EQ(q.scale[0] < 0.05F, with);
  }
}

struct Case {
  size_t in;
  size_t out;
  bool outliers;
  float weight_spread;
};

double naive(const Quantised& q, size_t row, const std::vector<float>& weight, const std::vector<float>& bias,
             size_t column, size_t in, std::span<const uint16_t> outliers) {
  std::vector<int8_t> w(in);
  const double step = quantise_weights(std::span(weight).subspan(column * in, in), w);
  double sum = 0;
  for (size_t i = 0; i < in; ++i) sum += q.value(row, i, outliers) * w[i];
  return sum * step + static_cast<double>(bias[column]);
}

TEST_P(KernelsTest, LinearEqualsTheNaiveLoopForEveryNumberOfRows) {
  const std::array<uint16_t, kOutliers> outliers = {0, 5, 9, 30, 31, 33, 62, 63};
  for (const Case& c : {Case{64, 128, true, 1}, Case{192, 64, false, 1}, Case{2048, 64, false, 1e4F}}) {
    const auto weight = random(c.in * c.out, c.weight_spread);
    const auto bias = random(c.out);
    const std::span<const uint16_t> chosen(outliers.data(), c.outliers ? kOutliers : 0);
    WeightArena arena(packed_linear_bytes(c.in, c.out));
    const LinearPart part{weight, bias};
    const PackedLinear layer = pack_linear({&part, 1}, c.in, chosen, arena);
    for (size_t rows = 1; rows <= 19; ++rows) {
      auto x = random(rows * c.in);
      x[5] = 40;
      Quantised q(rows, c.in);
      k().quantise(x.data(), rows, c.in, chosen, q.view());
      std::vector<float> y(rows * c.out);
      k().linear(layer, q.view(), {.rows = rows, .begin = 0, .count = c.out, .out = y.data(), .out_stride = c.out});
      for (size_t r = 0; r < rows; r += 3) {
        for (size_t n = 0; n < c.out; n += 7) {
          const double expected = naive(q, r, weight, bias, n, c.in, chosen);
          const double scale = static_cast<double>(c.weight_spread) * 50;
          ASSERT_NEAR(static_cast<double>(y[r * c.out + n]), expected, 2e-5 * scale) << rows << " rows";
        }
      }
    }
  }
}

TEST_P(KernelsTest, LargestProductsDoNotSaturate) {
  constexpr size_t kIn = 256;
  std::vector<float> weight(64 * kIn, 127);
  for (size_t i = kIn; i < 2 * kIn; ++i) weight[i] = i % 2 == 0 ? 127.0F : -127.0F;
  weight[1] = 126.5F;  // off the 64-step grid
  const std::vector<float> bias(64, 0);
  WeightArena arena(packed_linear_bytes(kIn, 64));
  const LinearPart part{weight, bias};
  const PackedLinear layer = pack_linear({&part, 1}, kIn, {}, arena);
  for (const int8_t extreme : {int8_t{-128}, int8_t{127}}) {
    Quantised q(1, kIn);
    std::fill_n(q.values.begin(), kIn, extreme);
    q.scale[0] = 1;
    q.sum[0] = extreme * static_cast<int32_t>(kIn);
    std::vector<float> y(64);
    k().linear(layer, q.view(), {.rows = 1, .begin = 0, .count = 64, .out = y.data(), .out_stride = 64});
    EXPECT_NEAR(y[0] / (extreme * 127.0F * 255 + extreme * 126.5F), 1, 1e-4);
    EXPECT_NEAR(y[1], 0, 1e-3);
  }
}

TEST_P(KernelsTest, ColumnsAndEpiloguesAreTheirOwn) {
  const auto weight = random(size_t{128} * 64);
  const auto bias = random(128);
  WeightArena arena(packed_linear_bytes(64, 128));
  const LinearPart part{weight, bias};
  const PackedLinear layer = pack_linear({&part, 1}, 64, {}, arena);
  auto x = random(size_t{3} * 64, 0.5F);
  Quantised q(3, 64);
  k().quantise(x.data(), 3, 64, {}, q.view());
  const auto residual = random(size_t{3} * 128);
  std::vector<float> plain(size_t{3} * 128);
  std::vector<float> gelu(size_t{3} * 128, -99);
  std::vector<float> added(size_t{3} * 128);
  LinearCall call{.rows = 3, .begin = 0, .count = 128, .out = plain.data(), .out_stride = 128};
  k().linear(layer, q.view(), call);
  call.out = added.data();
  call.epilogue = Epilogue::kResidual;
  call.residual = residual.data();
  k().linear(layer, q.view(), call);
  call.out = gelu.data();
  call.epilogue = Epilogue::kGelu;
  call.begin = 64;
  call.count = 64;
  k().linear(layer, q.view(), call);
  for (size_t i = 0; i < size_t{3} * 128; ++i) {
    EXPECT_FLOAT_EQ(added[i], plain[i] + residual[i]);
    const float v = plain[i];
    if (i % 128 < 64) {
      EXPECT_EQ(gelu[i], -99);
    } else {
      EXPECT_NEAR(gelu[i], 0.5F * v * (1 + std::erf(v / std::sqrt(2.0F))), 1e-4F + 1e-5F * std::abs(v)) << v;
    }
  }
}

TEST_P(KernelsTest, LayerNormEqualsTheFormula) {
  auto x = random(size_t{2} * 192, 5);
  const auto gain = random(192);
  const auto bias = random(192);
  const auto before = x;
  k().layer_norm(x.data(), 2, 192, gain.data(), bias.data(), 1e-12F);
  for (size_t r = 0; r < 2; ++r) {
    double mean = 0;
    double variance = 0;
    for (size_t i = 0; i < 192; ++i) mean += static_cast<double>(before[r * 192 + i]) / 192;
    for (size_t i = 0; i < 192; ++i) variance += std::pow(static_cast<double>(before[r * 192 + i]) - mean, 2) / 192;
    for (size_t i = 0; i < 192; ++i) {
      const double z = (static_cast<double>(before[r * 192 + i]) - mean) / std::sqrt(variance);
      EXPECT_NEAR(x[r * 192 + i], z * static_cast<double>(gain[i]) + static_cast<double>(bias[i]), 1e-4);
    }
  }
}

TEST_P(KernelsTest, AttentionEqualsTheFormulaForEveryNumberOfTokens) {
  constexpr size_t kHeads = 3;
  constexpr size_t kSize = 32;
  constexpr size_t kWidth = kHeads * kSize;
  for (const size_t tokens : std::vector<size_t>{1, 2, 4, 7, 15, 16, 17, 33}) {
    const auto qkv = random(tokens * 3 * kWidth, 0.7F);
    std::vector<float> scratch(attention_scratch(tokens, kSize), 1e9F);
    std::vector<float> out(tokens * kWidth);
    k().attention({.q = qkv.data(),
                   .k = qkv.data() + kWidth,
                   .v = qkv.data() + 2 * kWidth,
                   .stride = 3 * kWidth,
                   .query_rows = tokens,
                   .tokens = tokens,
                   .heads = kHeads,
                   .head_size = kSize,
                   .scratch = scratch.data(),
                   .out = out.data()});
    for (size_t i = 0; i < tokens; ++i) {
      for (size_t c = 0; c < kWidth; c += 5) {
        const size_t first = c / kSize * kSize;
        double total = 0;
        double mixed = 0;
        for (size_t j = 0; j < tokens; ++j) {
          double score = 0;
          for (size_t d = first; d < first + kSize; ++d) {
            score +=
                static_cast<double>(qkv[i * 3 * kWidth + d]) * static_cast<double>(qkv[j * 3 * kWidth + kWidth + d]);
          }
          total += std::exp(score);
          mixed += std::exp(score) * static_cast<double>(qkv[j * 3 * kWidth + 2 * kWidth + c]);
        }
        ASSERT_NEAR(out[i * kWidth + c], mixed / total, 2e-5) << tokens << " tokens";
      }
    }
  }
}

TEST_P(KernelsTest, EmbedsAWordAtItsPosition) {
  std::vector<int8_t> word(64);
  for (size_t i = 0; i < 64; ++i) word[i] = static_cast<int8_t>(static_cast<int>(i) * 3 - 100);
  const auto position = random(64);
  std::vector<float> out(64);
  k().embed(out.data(), word.data(), 0.5F, position.data(), 64);
  for (size_t i = 0; i < 64; ++i) EXPECT_FLOAT_EQ(out[i], 0.5F * word[i] + position[i]);
}

INSTANTIATE_TEST_SUITE_P(Levels, KernelsTest, testing::Values(CpuLevel::kPlain, CpuLevel::kAvx2, CpuLevel::kAvx512Vnni),
                         [](const auto& param) { return std::string(cpu_level_name(param.param)); });

TEST(CpuTest, TheEnvironmentOnlyLowersTheLevel) {
  ASSERT_EQ(setenv("HENGSHI_CPU", "plain", 1), 0);
  EXPECT_EQ(detect_cpu(), CpuLevel::kPlain);
  ASSERT_EQ(unsetenv("HENGSHI_CPU"), 0);
  const CpuLevel best = detect_cpu();
  ASSERT_EQ(setenv("HENGSHI_CPU", "avx512", 1), 0);
  EXPECT_EQ(detect_cpu(), best);
  ASSERT_EQ(setenv("HENGSHI_CPU", "nonsense", 1), 0);
  EXPECT_EQ(detect_cpu(), best);
  ASSERT_EQ(unsetenv("HENGSHI_CPU"), 0);
}

TEST(PackingTest, WeightsOnASevenBitGridLoseNothing) {
  std::vector<float> row(64);
  for (size_t i = 0; i < row.size(); ++i) row[i] = static_cast<float>(static_cast<int>(i * 2) - 64) * 0.0173F;
  std::vector<int8_t> packed(64);
  const float step = quantise_weights(row, packed);
  for (size_t i = 0; i < row.size(); ++i) EXPECT_NEAR(step * packed[i], row[i], 1e-6F);
}

}  // namespace
}  // namespace hengshi::nn
