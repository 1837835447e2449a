#include "app/nearest.h"

#include <gtest/gtest.h>

namespace hengshi::app {
namespace {

TEST(Nearest, GuessesWhatIsLikely) {
  const std::vector<std::string_view> known = {"key",  "keys", "serve",          "server",
                                               "tail", "port", "between_tokens", "zh"};
  EXPECT_EQ(nearest("srve", known), "serve");
  EXPECT_EQ(nearest("sever", known), "server");
  EXPECT_EQ(nearest("tial", known), "tail");
  EXPECT_EQ(nearest("prot", known), "port");
  EXPECT_EQ(nearest("betwen_token", known), "between_tokens");
  EXPECT_EQ(nearest("kye", known), "key");
}

TEST(Nearest, DoesNotGuessAtRandom) {
  const std::vector<std::string_view> known = {"key", "keys", "tail", "stats", "zh", "en", "add", "list"};
  for (const std::string_view name : {"", "x", "xy", "q", "zn", "run", "what", "remove"})
    EXPECT_EQ(nearest(name, known), "") << name;
  EXPECT_EQ(nearest("anything", {}), "");
}

}  // namespace
}  // namespace hengshi::app
