#include "gateway/stored.h"

#include <gtest/gtest.h>

namespace hengshi::gateway {
namespace {

TEST(Stored, ComesBackAsItWent) {
  api::Completion answer;
  answer.model = "gpt-x";
  answer.choices = "[{\"index\":0}]";
  answer.usage = {12, 7, 3, 2, true};
  const auto back = decode_stored(encode_stored(answer));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->model, answer.model);
  EXPECT_EQ(back->choices, answer.choices);
  EXPECT_EQ(back->usage.prompt, 12);
  EXPECT_EQ(back->usage.completion, 7);
  EXPECT_EQ(back->usage.cached, 3);
  EXPECT_EQ(back->usage.reasoning, 2);
  EXPECT_TRUE(back->usage.estimated);
}

TEST(Stored, RefusesWhatItDidNotWrite) {
  for (const char* bad : {"", "answer/1 ", "answer/2 1 2 3 4 0\nm\n[]", "answer/1 1 2 3 4 0",
                          "answer/1 1 x 3 4 0\nm\n[]", "answer/1 1 2 3 4 0\nmodel-only"}) {
    EXPECT_FALSE(decode_stored(bad)) << bad;
  }
}

}  // namespace
}  // namespace hengshi::gateway
