#include "text/shape.h"

#include <gtest/gtest.h>

#include <string>

#include "text/text.h"

namespace hengshi::text {
namespace {

std::string_view shape(std::string_view question) { return unfit_shape(normalise(question)); }

TEST(Shape, OneShortQuestionIsFit) {
  for (const char* question : {"怎么退款",
                               "你好，在吗？怎么退款？",
                               "怎么回事？连不上WiFi怎么办？？？",
                               "给我另外一张卡",
                               "我的日程里还有什么",
                               "还有多少余额",
                               "订单HS20240618到哪了？急！",
                               "请问以及怎么理解",
                               "顺便问一下怎么退款",
                               "两个手机怎么连同一个灯",
                               "WiFi(2.4G)连不上",
                               "How do I reset it?",
                               "Hello? How do I reset it?",
                               "my card was declined, why?",
                               "What happened? My order never came.",
                               "Can I also use it outdoors?",
                               "where and when can I pick it up",
                               "is it a == sign on the display",
                               "rock and roll music please",
                               "I paid $20. Where is my refund?",
                               "Can I reset my password? I don't know what it is.",
                               "微信付不出去，还有别的办法吗",
                               "灯没声，重新插电也试过？该怎么弄",
                               "It does not charge? How can I fix this?",
                               "",
                               "?"}) {
    EXPECT_EQ(shape(question), "") << question;
  }
}

TEST(Shape, SeveralQuestions) {
  for (const char* question :
       {"怎么退款？多久能到账？", "怎么开发票？还有运费多少？", "帮我查一下余额顺便转账给小王",
        "怎么退款，另外运费谁出", "灯泡不亮了怎么办。另外怎么换颜色", "我要退货，还有怎么开发票",
        "怎么重置密码，还有一个问题，会员怎么取消", "How do I reset it? And where is my invoice?",
        "Turn off the lamp and also lock the front door", "I want a refund. Also, where is my other parcel?",
        "how do I pair the lamp and what colours does it have", "When do you open? Do you sell lamps?",
        "my order is late, by the way can I change the address"}) {
    EXPECT_EQ(shape(question), "several_questions") << question;
  }
}

TEST(Shape, Code) {
  for (const char* question :
       {"为什么报错 ```print(x)```", "#include <stdio.h> 怎么编译不过",
        "for (int i = 0; i < 3; ++i) { sum += i; } 是什么意思", "SELECT * FROM orders WHERE id = 3 slow",
        "if (a == b) return c->d", "{\"text\": \"hello\"} what is wrong", "Traceback (most recent call last): File",
        "<div class=\"a\">hello</div>"}) {
    EXPECT_EQ(shape(question), "code") << question;
  }
}

TEST(Shape, Long) {
  std::string chinese, english;
  for (int i = 0; i < 40; ++i) chinese += "我想买一盏灯", english += "I want a lamp and ";
  EXPECT_EQ(shape(chinese), "too_long");
  EXPECT_EQ(shape(english), "too_long");
}

}  // namespace
}  // namespace hengshi::text
