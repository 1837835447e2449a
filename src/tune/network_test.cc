#include "tune/network.h"

#include <gtest/gtest.h>

#include "nn/reference_bert.h"
#include "nn/test_model.h"
#include "tune/check_gradient.h"
#include "tune/optimiser.h"
#include "tune/task.h"

namespace hengshi::tune {
namespace {

class NetworkTest : public testing::TestWithParam<bool> {
 protected:
  NetworkTest() {
    folder.pooling(GetParam());
    base.emplace(*BaseModel::open(folder.path()));
    layout.emplace(base->config().bert);
    batch.add(std::vector<int32_t>{2, 5, 9, 30, 3});
    batch.add(std::vector<int32_t>{2, 3});
    batch.add(std::vector<int32_t>{2, 17, 17, 4, 8, 21, 3});
  }

  nn::TestFolder folder;
  std::optional<BaseModel> base;
  std::optional<Layout> layout;
  Packed batch;
};

TEST_P(NetworkTest, ForwardIsTheReference) {
  const auto parameters = base->parameters(*layout);
  ASSERT_TRUE(parameters);
  Network network(*base, *layout);
  const auto embeddings = network.forward(parameters->data(), batch, {});
  const auto file = nn::MappedFile::open(folder.path() + "/model.safetensors");
  const auto tensors = nn::Safetensors::parse(file->bytes(), "model");
  const nn::ReferenceBert reference(base->config().bert, base->config().pooling, *tensors);
  for (size_t s = 0; s < batch.sequences(); ++s) {
    const auto ids = std::span(batch.ids).subspan(batch.starts[s], batch.starts[s + 1] - batch.starts[s]);
    const std::vector<float> expected = reference.forward(ids);
    for (size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(embeddings[s * 64 + i], expected[i], 2e-5) << s;
  }
}

TEST_P(NetworkTest, BackwardIsTheDerivativeOfForwardAndTask) {
  ClassTask task({.classes = 3, .dim = 64, .smoothing = 0.1F, .contrast = 0.5F});
  task.lay_out(*layout);
  std::vector<float> parameters = *base->parameters(*layout);
  parameters.resize(layout->size);
  task.start(parameters, 3);
  Network network(*base, *layout);
  const std::vector<uint32_t> labels = {1, 2, 1};
  for (const float rate : {0.0F, 0.2F}) {
    const Dropping dropping{rate, 11};
    std::vector<float> gradient(layout->size), unused(layout->size), d(3 * 64);
    const auto loss = [&](std::vector<float>& into) {
      const auto embeddings = network.forward(parameters.data(), batch, dropping);
      return task.learn(parameters.data(), {embeddings, labels}, dropping, d, into.data()).loss / 3;
    };
    loss(gradient);
    network.backward(parameters.data(), batch, dropping, d, gradient.data());
    // A prime step through the buffer meets every tensor.
    check_gradient("parameters", parameters, gradient, [&] { return loss(unused); }, 2e-3F, 211, 2e-2);
  }
}

TEST_P(NetworkTest, ANeighbourInTheBatchChangesNothing) {
  const std::vector<float> parameters = *base->parameters(*layout);
  Network network(*base, *layout);
  const auto whole = network.forward(parameters.data(), batch, {});
  const std::vector<float> among(whole.begin(), whole.begin() + 64);
  Packed alone;
  alone.add(std::span(batch.ids).first(5));
  const auto embedding = network.forward(parameters.data(), alone, {});
  for (size_t i = 0; i < 64; ++i) EXPECT_NEAR(embedding[i], among[i], 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Pooling, NetworkTest, testing::Bool(),
                         [](const auto& one) { return one.param ? "first" : "mean"; });

TEST(Optimiser, StepsTowardsTheSmallestLoss) {
  nn::BertConfig config;
  config.hidden = config.intermediate = 1;
  Layout layout(config);  // two numbers
  std::vector<float> x = {3, -2}, g(2), none(2);
  AdamW adam(layout, {.rate = 0.1F, .weight_decay = 0});
  for (size_t t = 1; t <= 300; ++t) {
    g = {x[0] - 1, 10 * (x[1] - 1)};
    adam.step(x, g, none, t, rate_share(t, 300, 0.1));
  }
  EXPECT_NEAR(x[0], 1, 1e-2);
  EXPECT_NEAR(x[1], 1, 1e-2);
  g = {std::nanf(""), 1};
  const std::vector<float> kept = x;
  EXPECT_FALSE(std::isfinite(adam.step(x, g, none, 301, 1)));
  EXPECT_EQ(x, kept);
}

TEST(Optimiser, TheRateRisesThenFalls) {
  EXPECT_LT(rate_share(1, 100, 0.1), 0.11F);
  EXPECT_GT(rate_share(10, 100, 0.1), 0.95F);
  EXPECT_LT(rate_share(60, 100, 0.1), rate_share(50, 100, 0.1));
  EXPECT_NEAR(rate_share(100, 100, 0.1), 0, 1e-6);
}

}  // namespace
}  // namespace hengshi::tune
