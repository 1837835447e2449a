#include "tune/ops.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "tune/check_gradient.h"

namespace hengshi::tune {
namespace {

using Floats = std::vector<float>;

// Any loss will do: a fixed mixture of what comes out.
double mixture(const Floats& out, const Floats& by) {
  double sum = 0;
  for (size_t i = 0; i < out.size(); ++i) sum += static_cast<double>(out[i]) * static_cast<double>(by[i]);
  return sum;
}

TEST(Ops, LinearAndItsDerivative) {
  constexpr size_t kRows = 5, kIn = 6, kOut = 4;
  Floats x = some_values(kRows * kIn, 1), weight = some_values(kOut * kIn, 2), bias = some_values(kOut, 3);
  const Floats by = some_values(kRows * kOut, 4);
  const Linear layer{weight.data(), bias.data(), kIn, kOut};
  const auto loss = [&] {
    Floats y(kRows * kOut);
    linear(layer, x.data(), kRows, y.data());
    return mixture(y, by);
  };
  Floats d_weight(weight.size()), d_bias(bias.size()), d_x(x.size());
  linear_backward(layer, x.data(), kRows, by.data(), d_weight.data(), d_bias.data(), d_x.data());
  check_gradient("weight", weight, d_weight, loss);
  check_gradient("bias", bias, d_bias, loss);
  check_gradient("x", x, d_x, loss);
  Floats twice = d_weight;
  linear_backward(layer, x.data(), kRows, by.data(), twice.data(), d_bias.data(), nullptr);
  EXPECT_NEAR(twice[3], 2 * d_weight[3], 1e-5);  // it adds
}

TEST(Ops, LayerNormAndItsDerivative) {
  constexpr size_t kRows = 3, kWidth = 37;  // no multiple of the lanes
  Floats x = some_values(kRows * kWidth, 1), gain = some_values(kWidth, 2), bias = some_values(kWidth, 3);
  const Floats by = some_values(kRows * kWidth, 4);
  const Norm norm{gain.data(), bias.data(), kWidth, 1e-5F};
  Floats standard(x.size()), inverse(kRows);
  const auto loss = [&] {
    Floats y(x.size());
    layer_norm(norm, x.data(), kRows, y.data(), standard.data(), inverse.data());
    return mixture(y, by);
  };
  loss();
  Floats d_gain(kWidth), d_bias(kWidth), d_x(x.size());
  layer_norm_backward(norm, standard.data(), inverse.data(), kRows, by.data(), d_gain.data(), d_bias.data(),
                      d_x.data());
  check_gradient("gain", gain, d_gain, loss);
  check_gradient("bias", bias, d_bias, loss);
  check_gradient("x", x, d_x, loss);
}

TEST(Ops, GeluIsTheErfForm) {
  Floats x, y(4001), slope(4001);
  for (int i = -2000; i <= 2000; ++i) x.push_back(static_cast<float>(i) * 0.005F);
  gelu(x.data(), x.size(), y.data(), slope.data());
  for (size_t i = 0; i < x.size(); ++i) {
    const double v = static_cast<double>(x[i]);
    const double phi = 0.5 * std::erfc(-v / std::numbers::sqrt2);
    EXPECT_NEAR(y[i], v * phi, 2e-6) << v;
    EXPECT_NEAR(slope[i], phi + v * std::exp(-v * v / 2) / std::sqrt(2 * std::numbers::pi), 2e-6) << v;
  }
}

TEST(Ops, DropoutKeepsTheMeanAndIsTheSameAgain) {
  Floats a(100001, 1.0F), b = a, c = a;
  dropout(7, 0.1F, a.size(), a.data());
  dropout(7, 0.1F, b.size(), b.data());
  dropout(8, 0.1F, c.size(), c.data());
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  double sum = 0;
  size_t zeros = 0;
  for (const float v : a) {
    sum += static_cast<double>(v);
    zeros += v == 0.0F;
  }
  EXPECT_NEAR(sum / 100001, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(zeros) / 100001, 0.1, 0.01);
}

TEST(Ops, DropoutIsItsOwnDerivative) {
  Floats x = some_values(61, 1);
  const Floats by = some_values(61, 2);
  const auto loss = [&] {
    Floats y = x;
    dropout(5, 0.3F, y.size(), y.data());
    return mixture(y, by);
  };
  Floats d = by;
  dropout(5, 0.3F, d.size(), d.data());
  check_gradient("x", x, d, loss);
}

void check_attention(bool first_only) {
  const std::vector<uint32_t> starts = {0, 1, 6, 10};
  const Attention shape{starts, 2, 20, first_only};
  Floats qkv = some_values(10 * 3 * shape.width(), 1);
  const Floats by = some_values((first_only ? 3 : 10) * shape.width(), 2);
  Floats weights(shape.weights());
  const auto loss = [&] {
    Floats out(by.size());
    attention(shape, qkv.data(), weights.data(), out.data());
    return mixture(out, by);
  };
  loss();
  Floats d_qkv(qkv.size());
  attention_backward(shape, qkv.data(), weights.data(), by.data(), d_qkv.data());
  check_gradient("qkv", qkv, d_qkv, loss);
}

TEST(Ops, AttentionAndItsDerivative) { check_attention(false); }
TEST(Ops, AttentionOfFirstRowsAndItsDerivative) { check_attention(true); }

TEST(Ops, MeanOfUnitLengthAndItsDerivative) {
  constexpr size_t kWidth = 19;
  const std::vector<uint32_t> starts = {0, 2, 3, 7};
  Floats x = some_values(7 * kWidth, 1);
  const Floats by = some_values(3 * kWidth, 2);
  Floats out(3 * kWidth), length(3);
  const auto loss = [&] {
    mean_pool(starts, kWidth, x.data(), out.data());
    unit_rows(3, kWidth, out.data(), length.data());
    return mixture(out, by);
  };
  loss();
  Floats d = by, d_x(x.size());
  unit_rows_backward(3, kWidth, out.data(), length.data(), d.data());
  mean_pool_backward(starts, kWidth, d.data(), d_x.data());
  check_gradient("x", x, d_x, loss);
}

}  // namespace
}  // namespace hengshi::tune
