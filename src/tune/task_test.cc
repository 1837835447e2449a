#include "tune/task.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tune/check_gradient.h"
#include "tune/ops.h"

namespace hengshi::tune {
namespace {

constexpr size_t kDim = 12;

TEST(Task, CrossEntropyAndItsDerivative) {
  std::vector<float> logits = some_values(4 * 5, 1);
  const std::vector<uint32_t> labels = {0, 3, 4, 3};
  const auto loss = [&] {
    std::vector<float> copy = logits;
    return cross_entropy(labels, 5, 0.1F, copy.data()).loss / 4;
  };
  std::vector<float> gradient = logits;
  cross_entropy(labels, 5, 0.1F, gradient.data());
  check_gradient("logits", logits, gradient, loss);
}

TEST(Task, SmoothingIsCrossEntropyAgainstAMixedTarget) {
  std::vector<float> logits = {2, 0, -1};
  const double total = std::log(std::exp(2.0) + 1 + std::exp(-1.0));
  const std::vector<uint32_t> labels = {1};
  const Outcome out = cross_entropy(labels, 3, 0.3F, logits.data());
  EXPECT_NEAR(out.loss, total - 0.8 * 0 - 0.1 * 2 - 0.1 * -1, 1e-5);
  EXPECT_EQ(out.right, 0U);
}

TEST(Task, ContrastAndItsDerivative) {
  std::vector<float> x = some_values(6 * kDim, 2), length(6);
  unit_rows(6, kDim, x.data(), length.data());
  const std::vector<uint32_t> labels = {0, 1, 0, 2, 1, 0};
  const ClassOptions options{.classes = 3, .dim = kDim, .contrast = 0.7F, .temperature = 0.5F};
  const auto loss = [&] {
    std::vector<float> unused(x.size());
    return contrast({x, labels}, kDim, options, unused.data()) / 6;
  };
  std::vector<float> gradient(x.size());
  contrast({x, labels}, kDim, options, gradient.data());
  check_gradient("embeddings", x, gradient, loss);
}

TEST(Task, ATextWithoutAFellowHasNoContrast) {
  const std::vector<float> x = some_values(3 * kDim, 2);
  const std::vector<uint32_t> apart = {0, 1, 2}, diverse = {2, 2, 2};
  std::vector<float> d(x.size());
  const ClassOptions options{.classes = 3, .dim = kDim, .contrast = 1, .diverse = 2};
  EXPECT_EQ(contrast({x, apart}, kDim, options, d.data()), 0);
  EXPECT_EQ(contrast({x, diverse}, kDim, options, d.data()), 0);
  EXPECT_EQ(d, std::vector<float>(x.size()));
}

}  // namespace
}  // namespace hengshi::tune
