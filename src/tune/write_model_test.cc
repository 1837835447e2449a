#include "tune/write_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "nn/encoder.h"
#include "nn/test_model.h"
#include "tune/network.h"

namespace hengshi::tune {
namespace {

TEST(WriteModel, ServingReadsWhatWasTuned) {
  const nn::TestFolder folder;
  const auto base = BaseModel::open(folder.path());
  ASSERT_TRUE(base);
  const Layout layout(base->config().bert);
  std::vector<float> parameters = *base->parameters(layout);
  for (float& x : parameters) x *= 1.25F;
  const std::string to = folder.path() + "/tuned";
  const auto written = write_model(*base, layout, parameters, "a \"tuned\" one", to);
  ASSERT_TRUE(written) << written.error().message;

  const auto encoder = nn::Encoder::load(to);
  ASSERT_TRUE(encoder) << encoder.error().message;
  EXPECT_EQ((*encoder)->name(), "a \"tuned\" one");
  Packed batch;
  batch.add((*encoder)->tokenize("my router reset"));
  Network network(*base, layout);
  const auto expected = network.forward(parameters.data(), batch, {});
  std::vector<float> got(64);
  (*encoder)->encode("my router reset", got);
  double cosine = 0;
  for (size_t i = 0; i < 64; ++i) cosine += static_cast<double>(expected[i]) * static_cast<double>(got[i]);
  EXPECT_GT(cosine, 0.999);
}

TEST(WriteModel, WrittenAgainItIsTheSame) {
  const nn::TestFolder folder;
  const auto base = BaseModel::open(folder.path());
  const Layout layout(base->config().bert);
  const std::string once = folder.path() + "/once", twice = folder.path() + "/twice";
  ASSERT_TRUE(write_model(*base, layout, *base->parameters(layout), "m", once));
  const auto again = BaseModel::open(once);
  ASSERT_TRUE(again) << again.error().message;
  ASSERT_TRUE(write_model(*again, layout, *again->parameters(layout), "m", twice));
  const auto first = nn::Encoder::load(once), second = nn::Encoder::load(twice);
  std::vector<float> a(64), b(64);
  (*first)->encode("caf un", a);
  (*second)->encode("caf un", b);
  EXPECT_EQ(a, b);
}

TEST(WriteModel, WhereNothingCanBeWrittenThePathIsNamed) {
  const nn::TestFolder folder;
  const auto base = BaseModel::open(folder.path());
  const Layout layout(base->config().bert);
  const auto written = write_model(*base, layout, *base->parameters(layout), "m", folder.path() + "/config.json");
  ASSERT_FALSE(written);
  EXPECT_NE(written.error().message.find("config.json"), std::string::npos);
}

}  // namespace
}  // namespace hengshi::tune
