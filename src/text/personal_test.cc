#include "text/personal.h"

#include <gtest/gtest.h>

namespace hengshi::text {
namespace {

TEST(Personal, SeesAddressesAndLongNumbers) {
  EXPECT_TRUE(has_personal_data("write to li.lei@example.com please"));
  EXPECT_TRUE(has_personal_data("我的手机号是138 0013 8000"));
  EXPECT_TRUE(has_personal_data("订单AB12345678到哪了"));
  EXPECT_TRUE(has_personal_data("卡号６２２２０２００１２３４"));
}

TEST(Personal, LeavesOrdinaryQuestionsAlone) {
  EXPECT_FALSE(has_personal_data("路由器指示灯闪红灯3次怎么办"));
  EXPECT_FALSE(has_personal_data("error code E42 after 2 resets in 24 hours"));
  EXPECT_FALSE(has_personal_data("meet @ 5pm"));
  EXPECT_FALSE(has_personal_data("1 2 3 4"));
  EXPECT_FALSE(has_personal_data(""));
}

// Wherever it stands: the search looks at every seventh byte first.
TEST(Personal, FindsALongNumberAtEveryPlace) {
  for (size_t before = 0; before < 30; ++before) {
    for (const char* number : {"1234567", "1 2-3 4567", "１２３４５６７"}) {
      EXPECT_TRUE(has_personal_data(std::string(before, 'x') + number + "x")) << before << number;
      EXPECT_TRUE(has_personal_data(std::string(before, 'x') + number)) << before << number;
    }
    EXPECT_FALSE(has_personal_data(std::string(before, 'x') + "123456x123"));
  }
}

}  // namespace
}  // namespace hengshi::text
