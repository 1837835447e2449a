#include "api/grown.h"

#include <gtest/gtest.h>

namespace hengshi::api {
namespace {

json::Value parsed(const std::string& text) { return *json::Document::of_thread().parse(text); }

std::string written(const Grown& grown) {
  std::string out;
  grown.write(out);
  return out;
}

TEST(Grown, MembersKeepTheirOrderAndGrowHoweverManyThereAre) {
  Grown grown;
  std::string expected = "{";
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 40; ++i) {
      grown.take(parsed("{\"k" + std::to_string(i) + "\":\"" + std::to_string(round) + "\"}"));
    }
  }
  for (int i = 0; i < 40; ++i) expected += (i > 0 ? ",\"k" : "\"k") + std::to_string(i) + "\":\"01\"";
  EXPECT_EQ(written(grown), expected + "}");
  const Grown copy = grown;
  ASSERT_NE(copy.find("k39"), nullptr);
  EXPECT_EQ(*copy.find("k39")->text(), "01");
  EXPECT_EQ(copy.find("k40"), nullptr);
  grown.take(parsed("[1]"));
  grown.take(parsed(R"({"k1":"again"})"));
  EXPECT_EQ(written(grown), R"({"k1":"again"})");
}

// Looked for one by one this many would take minutes.
TEST(Grown, ManyDistinctMembersAreFoundWithoutLookingAtEach) {
  constexpr int kMany = 300'000;
  std::string object = "{";
  for (int i = 0; i < kMany; ++i) object += (i > 0 ? ",\"" : "\"") + std::to_string(i) + "\":1";
  object += "}";
  Grown grown;
  grown.take(parsed(object));
  grown.take(parsed(object));
  EXPECT_EQ(grown.members().size(), size_t{kMany});
  EXPECT_EQ(written(grown), object);
}

}  // namespace
}  // namespace hengshi::api
