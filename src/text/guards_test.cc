#include "text/guards.h"

#include <gtest/gtest.h>

#include <string>

#include "text/text.h"

namespace hengshi::text {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : " ") + part;
  return out;
}

std::string numbers(std::string_view text) { return joined(guard_facts(normalise(text)).numbers); }
std::string polar(std::string_view text) { return joined(guard_facts(normalise(text)).polar); }
int negations(std::string_view text) { return guard_facts(normalise(text)).negations; }
std::string_view refused(std::string_view a, std::string_view b) {
  return refuse(guard_facts(normalise(a)), guard_facts(normalise(b)));
}

TEST(Numbers, Chinese) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"三百", "300"},
      {"三百块", "300cny"},
      {"300元", "300cny"},
      {"￥300", "300cny"},
      {"五公斤", "5kg"},
      {"５ｋｇ", "5kg"},
      {"5千克", "5kg"},
      {"5克", "5g"},
      {"一百二", "120"},
      {"一万二", "12000"},
      {"一百零二", "102"},
      {"二十五", "25"},
      {"十五", "15"},
      {"两个", "2"},
      {"三千万", "30000000"},
      {"一亿两千万", "120000000"},
      {"二〇二四年", "2024"},
      {"2024年3月5日", "2024 m3 5"},
      {"三月五号", "m3 5"},
      {"3个月", "3month"},
      {"三个月", "3month"},
      {"3万", "30000"},
      {"3万5", "35000"},
      {"3万5千", "35000"},
      {"1.5万元", "15000cny"},
      {"叁佰", "300"},
      {"三点", "3:00"},
      {"三点半", "3:30"},
      {"3点30分", "3:30"},
      {"三点十五", "3:15"},
      {"三点五公斤", "3.5kg"},
      {"下午三点", "15:00"},
      {"晚上8点半", "20:30"},
      {"15:00", "15:00"},
      {"半小时", "0.5h"},
      {"两小时", "2h"},
      {"2个小时", "2h"},
      {"百分之五", "5%"},
      {"5%", "5%"},
      {"零下五度", "-5°"},
      {"周三", "w3"},
      {"星期三", "w3"},
      {"今天", "day+0"},
      {"大后天", "day+3"},
      {"下周", "week+1"},
      {"第三个", "3"},
      {"尾号0571", "0571"},
      {"13800138000", "13800138000"},
      {"iphone 12", "12"},
      {"iPhone12", "12"},
      {"订单A123", "a123"},
      {"查一下", ""},
      {"查一查", ""},
      {"一个", ""},
      {"一年", "1year"},
      {"快一点", ""},
      {"下午一点", "13:00"},
      {"万一", ""},
      {"十分感谢", ""},
      {"千万别", ""},
      {"二维码", ""},
      {"百合花", ""},
      {"多少钱", ""},
      {"怎么", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(numbers(c.text), c.expected) << c.text;
}

TEST(Numbers, English) {
  const struct {
    const char* text;
    const char* expected;
  } cases[] = {
      {"300", "300"},
      {"three hundred", "300"},
      {"a hundred", "100"},
      {"twenty-five", "25"},
      {"two thousand and five", "2005"},
      {"1,000", "1000"},
      {"1,000.50", "1000.5"},
      {"5 kg", "5kg"},
      {"5kg", "5kg"},
      {"five kilograms", "5kg"},
      {"5 g", "5g"},
      {"24-hour", "24h"},
      {"$5", "5usd"},
      {"5 dollars", "5usd"},
      {"€5.50", "5.5eur"},
      {"3:30", "3:30"},
      {"03:30", "3:30"},
      {"3 pm", "15:00"},
      {"3:30pm", "15:30"},
      {"3 p.m.", "15:00"},
      {"12 am", "0:00"},
      {"3 o'clock", "3:00"},
      {"20%", "20%"},
      {"20 percent", "20%"},
      {"-5°C", "-5°c"},
      {"3rd", "3"},
      {"third", "3"},
      {"five seconds", "5s"},
      {"3k", "3000"},
      {"2 million", "2000000"},
      {"half an hour", "0.5h"},
      {"order a123", "a123"},
      {"windows 11", "11"},
      {"march 5", "m3 5"},
      {"may 5", "m5 5"},
      {"may i", ""},
      {"monday", "w1"},
      {"today", "day+0"},
      {"last week", "week-1"},
      {"which one", ""},
      {"one day", "1day"},
      {"no one", ""},
      {"1234567890123456789012", "1234567890123456789012"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(numbers(c.text), c.expected) << c.text;
  }
}

TEST(Negations, Counted) {
  const struct {
    const char* text;
    int expected;
  } cases[] = {
      {"能退款", 0},         {"不能退款", 1},         {"能不能退款", 0},     {"可不可以退款", 0}, {"有没有优惠", 0},
      {"没有优惠", 1},       {"没收到", 1},           {"无法登录", 1},       {"无线网络", 0},     {"别点", 1},
      {"特别快", 0},         {"区别是什么", 0},       {"到账了没有", 0},     {"到账了没", 0},     {"未到账", 1},
      {"未来", 0},           {"是否到账", 0},         {"不好意思", 0},       {"差不多", 0},       {"不知道怎么退款", 0},
      {"喜不喜欢", 0},       {"打不开", 1},           {"不能不去", 2},       {"can i", 0},        {"can't connect", 1},
      {"cannot connect", 1}, {"can not connect", 1},  {"never", 1},          {"without wifi", 1}, {"notes", 0},
      {"note", 0},           {"not only", 0},         {"whether or not", 0}, {"no matter", 0},    {"don't know how", 0},
      {"don’t", 1},          {"unable to log in", 1}, {"know", 0},           {"another", 0},
  };
  for (const auto& c : cases) EXPECT_EQ(negations(c.text), c.expected) << c.text;
}

TEST(Polar, EndsOfPairs) {
  EXPECT_EQ(polar("开启"), "+switch");
  EXPECT_EQ(polar("关闭"), "-switch");
  EXPECT_EQ(polar("关于公开课"), "");
  EXPECT_EQ(polar("turn the light off"), "-switch");
  EXPECT_EQ(polar("turning on wifi"), "+switch");
  EXPECT_EQ(polar("on my phone"), "");
  EXPECT_EQ(polar("logged out"), "-login");
  EXPECT_EQ(polar("disabled"), "-switch");
  EXPECT_EQ(polar("三天前"), "+order");
  EXPECT_EQ(polar("三天后"), "-order");
}

TEST(Refuse, TrapsInBothLanguages) {
  const struct {
    const char* a;
    const char* b;
    const char* guard;
  } cases[] = {
      {"怎么开启蓝牙", "怎么关闭蓝牙", "antonym"},
      {"打开客厅的灯", "关掉客厅的灯", "antonym"},
      {"开灯", "关灯", "antonym"},
      {"利率上调了吗", "利率下调了吗", "antonym"},
      {"怎么增加额度", "怎么减少额度", "antonym"},
      {"如何登录账号", "如何退出账号", "antonym"},
      {"退款能到账", "退款不能到账", "negation"},
      {"可以提前还款", "不可以提前还款", "negation"},
      {"收到验证码", "没收到验证码", "negation"},
      {"能登录", "无法登录", "negation"},
      {"饭前吃药", "饭后吃药", "antonym"},
      {"付款之前能改地址吗", "付款之后能改地址吗", "antonym"},
      {"寄5kg要多少钱", "寄5g要多少钱", "number"},
      {"转三百块", "转四百块", "number"},
      {"三点开会", "四点开会", "number"},
      {"上午三点", "下午三点", "number"},
      {"今天天气", "明天天气", "number"},
      {"周一营业吗", "周二营业吗", "number"},
      {"三月的账单", "四月的账单", "number"},
      {"三天前", "三天后", "antonym"},
      {"iphone 12 怎么截屏", "iphone 13 怎么截屏", "number"},
      {"有线耳机", "无线耳机", "antonym"},
      {"怎么上传文件", "怎么下载文件", "antonym"},
      {"how do i enable wifi", "how do i disable wifi", "antonym"},
      {"turn on the light", "turn off the light", "antonym"},
      {"turn the volume up", "turn the volume down", "antonym"},
      {"can i pay before delivery", "can i pay after delivery", "antonym"},
      {"increase my limit", "decrease my limit", "antonym"},
      {"connect the speaker", "disconnect the speaker", "antonym"},
      {"i can't login", "i can't logout", "antonym"},
      {"how to log in", "how to log out", "antonym"},
      {"i can withdraw", "i can't withdraw", "negation"},
      {"pizza with cheese", "pizza without cheese", "negation"},
      {"it works", "it never works", "negation"},
      {"ship 5kg", "ship 5g", "number"},
      {"ship 5 kg", "ship 6 kg", "number"},
      {"wake me at 3 am", "wake me at 3 pm", "number"},
      {"weather today", "weather tomorrow", "number"},
      {"open on monday", "open on tuesday", "number"},
      {"bill of march", "bill of april", "number"},
      {"order 123", "order 124", "number"},
      {"上面的按钮", "下面的按钮", "antonym"},
      {"from 3 to 5", "from 5 to 3", "number"},
      {"西安到重庆的火车票多少钱", "重庆到西安的火车票多少钱", "direction"},
      {"呼和浩特到乌鲁木齐多远", "乌鲁木齐到呼和浩特多远", "direction"},
      {"怎么把word转成pdf", "怎么把pdf转成word", "direction"},
      {"语音转换成文字", "文字转换成语音", "direction"},
      {"苹果比华为好吗", "华为比苹果好吗", "direction"},
      {"flights from paris to london", "flights from london to paris", "direction"},
      {"convert the word file into pdf", "convert the pdf file into word", "direction"},
      {"how do i convert word to pdf", "how do i convert pdf to word", "direction"},
      {"is gold heavier than silver", "is silver heavier than gold", "direction"},
      {"怎么退款", "我上个月在你们店里买了一件衣服想知道怎么申请退款流程是怎样的需要几天", "number"},
      {"怎么退款", "我在你们店里给家里人挑的那件衣服颜色跟图片对应的样子有些出入怎么退款", "length"},
      {"refund", "please tell me every step that has to be taken for a refund of the shoes", "length"},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(refused(c.a, c.b), c.guard) << c.a << " | " << c.b;
    EXPECT_EQ(refused(c.b, c.a), c.guard) << c.b << " | " << c.a;
  }
}

TEST(Refuse, KeepsParaphrases) {
  const struct {
    const char* a;
    const char* b;
  } cases[] = {
      {"怎么开启蓝牙", "如何打开蓝牙功能"},
      {"怎么關閉藍牙？", "怎么关掉蓝牙"},
      {"能不能退款", "可以退款吗"},
      {"转三百块", "转300元"},
      {"五公斤的包裹", "5kg的包裹"},
      {"下午三点", "15:00"},
      {"无法登录", "不能登录"},
      {"两个小时", "2小时"},
      {"退款到账了没有", "退款是否到账"},
      {"查一下余额", "查余额"},
      {"西安到重庆到西安的票", "西安到重庆再到西安的票"},
      {"从西安到重庆要多久", "西安到重庆多长时间"},
      {"收到验证码怎么办", "验证码收到怎么办"},
      {"how do i go from paris to london", "what is the best way to london from paris"},
      {"how do i enable wifi", "how can i turn on the wifi"},
      {"disable it", "turn it off"},
      {"i can't connect", "i am unable to connect"},
      {"send three hundred dollars to mom", "send $300 to mom"},
      {"5 kilograms", "5kg"},
      {"3 pm", "15:00"},
      {"signing out", "log out"},
      {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(refused(c.a, c.b), "") << c.a << " | " << c.b;
}

TEST(Guards, ReadAnyBytes) {
  for (const char* text : {"\xFF\xFE", "\xE4\xBD", "零下", "-", "$", "¥", "半", "三点", "百分之", "half a ", "turn",
                           "'", "3:", "3,", "1."}) {
    (void)guard_facts(text);
  }
}

}  // namespace
}  // namespace hengshi::text
