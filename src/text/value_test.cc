#include "text/value.h"

#include <gtest/gtest.h>

namespace hengshi::text {
namespace {

struct Case {
  const char *question, *value;  // value "": none
};

template <size_t N>
void expect_all(ValueKind kind, const Case (&cases)[N]) {
  for (const Case& one : cases) EXPECT_EQ(find_value(kind, one.question).value_or(""), one.value) << one.question;
}

TEST(Value, KindsHaveNames) {
  for (const std::string_view name : {"number", "date", "time", "amount", "percent", "phone", "email", "id"}) {
    ASSERT_TRUE(value_kind(name)) << name;
    EXPECT_EQ(value_kind_name(*value_kind(name)), name);
    EXPECT_NE(kValueKinds.find(name), std::string_view::npos);
  }
  EXPECT_FALSE(value_kind("colour"));
}

TEST(Value, Number) {
  expect_all(ValueKind::kNumber, {{"我要买三台", "3"},
                                  {"要十二个", "12"},
                                  {"来两百个", "200"},
                                  {"帮我查一下", ""},
                                  {"三星电视坏了", ""},
                                  {"６月18日买的那3台", "3"},
                                  {"下午三点送五箱", "5"},
                                  {"充300块", "300"},
                                  {"零下5度", "-5"},
                                  {"I need twenty-five lamps", "25"},
                                  {"order 1,200 of them", "1200"},
                                  {"June 18, three lamps please", "3"},
                                  {"my ps5 is broken", ""},
                                  {"add 2.5 kg", "2.5"},
                                  {"how do I reset it", ""}});
}

TEST(Value, ChineseDates) {
  expect_all(ValueKind::kDate, {{"我想改到6月18日送", "6月18日"},
                                {"六月十八号能到吗", "六月十八号"},
                                {"２０２４年６月１８日下的单", "２０２４年６月１８日"},
                                {"2024-06-18 的订单", "2024-06-18"},
                                {"2024.6.18下的单", "2024.6.18"},
                                {"下周五能送吗", "下周五"},
                                {"这个星期天在家", "这个星期天"},
                                {"周末送货吗", "周末"},
                                {"大后天再来", "大后天"},
                                {"三天后送来", "三天后"},
                                {"半个月之前买的", "半个月之前"},
                                {"下个月18号", "下个月18号"},
                                {"18号到货", "18号"},
                                {"明年三月", "明年三月"},
                                {"我住五号楼", ""},
                                {"坐2号线", ""},
                                {"三个月了还没到", ""},
                                {"怎么退款", ""}});
}

TEST(Value, EnglishDates) {
  expect_all(ValueKind::kDate, {{"deliver it on June 18th please", "June 18th"},
                                {"on Jun 18, 2024", "Jun 18, 2024"},
                                {"the 18th of June works", "the 18th of June"},
                                {"18 June 2024", "18 June 2024"},
                                {"can you come next Friday?", "next Friday"},
                                {"Monday is fine", "Monday"},
                                {"this weekend", "this weekend"},
                                {"the day after tomorrow", "the day after tomorrow"},
                                {"I bought it 3 days ago", "3 days ago"},
                                {"two weeks from now", "two weeks from now"},
                                {"in 3 days", "in 3 days"},
                                {"on the 18th", "the 18th"},
                                {"6/18 would be good", "6/18"},
                                {"6/18/2024", "6/18/2024"},
                                {"may I return it", ""},
                                {"the march of progress", ""},
                                {"May 5 is fine", "May 5"},
                                {"version 2.1 is bad", ""},
                                {"where is it", ""}});
}

TEST(Value, Time) {
  expect_all(ValueKind::kTime, {{"下午三点半送", "下午三点半"},
                                {"明天15:30可以吗", "15:30"},
                                {"晚上八点以后", "晚上八点"},
                                {"上午送", "上午"},
                                {"中午十二点", "中午十二点"},
                                {"3点45分", "3点45分"},
                                {"快一点送", ""},
                                {"我有三点建议", ""},
                                {"at 3:30 PM please", "3:30 PM"},
                                {"around 5pm", "5pm"},
                                {"half past three", "half past three"},
                                {"3 o'clock", "3 o'clock"},
                                {"at noon", "noon"},
                                {"afternoon", ""},
                                {"how long", ""}});
}

TEST(Value, AmountAndPercent) {
  expect_all(ValueKind::kAmount, {{"退我300元", "300元"},
                                  {"三百块钱能退吗", "三百块钱"},
                                  {"一共三块五", "三块五"},
                                  {"￥１２８", "￥１２８"},
                                  {"三天了20美元还没退", "20美元"},
                                  {"买五公斤", "五公斤"},
                                  {"等了三天", ""},
                                  {"refund $20.50 please", "$20.50"},
                                  {"I paid 20 dollars", "20 dollars"},
                                  {"RMB 300 is gone", "RMB 300"},
                                  {"5kg of it", "5kg"},
                                  {"after 3 days", ""}});
  expect_all(ValueKind::kPercent, {{"打了百分之二十的折", "20%"},
                                   {"电量剩 5％", "5%"},
                                   {"twenty percent off", "20%"},
                                   {"15 per cent", "15%"},
                                   {"20 元", ""}});
}

TEST(Value, PhoneAndEmail) {
  expect_all(ValueKind::kPhone, {{"我的手机是13812345678", "13812345678"},
                                 {"打138-1234-5678吧", "138-1234-5678"},
                                 {"+86 138 1234 5678", "+86 138 1234 5678"},
                                 {"座机010-62345678", "010-62345678"},
                                 {"400-810-1234打不通", "400-810-1234"},
                                 {"call +44 20 7946 0958", "+44 20 7946 0958"},
                                 {"(415) 555-0132", "(415) 555-0132"},
                                 {"1-800-555-0199", "1-800-555-0199"},
                                 {"订单HS20240618", ""},
                                 {"2024-06-18", ""},
                                 {"12345678901234567890", ""}});
  expect_all(ValueKind::kEmail, {{"邮箱是Li.Wei_88@Example.com。", "Li.Wei_88@Example.com"},
                                 {"write to a+b@mail.example.co.uk, please", "a+b@mail.example.co.uk"},
                                 {"@home", ""},
                                 {"a@b", ""}});
}

TEST(Value, Id) {
  expect_all(ValueKind::kId, {{"查一下AB12345678的物流", "AB12345678"},
                              {"订单号是ab-2024-0618", "ab-2024-0618"},
                              {"单号：10023", "10023"},
                              {"order #10023 is late", "10023"},
                              {"Order number: X-991", "X-991"},
                              {"my device SN 77a81c", "77a81c"},
                              {"200000000000123", "200000000000123"},
                              {"我的手机13812345678", ""},
                              {"2024-06-18", ""},
                              {"iphone15坏了", ""},
                              {"10000mAh", ""},
                              {"where is my order", ""}});
}

TEST(Value, IllFormedTextGivesNothing) {
  for (const ValueKind kind : {ValueKind::kNumber, ValueKind::kDate, ValueKind::kTime, ValueKind::kAmount,
                               ValueKind::kPercent, ValueKind::kPhone, ValueKind::kEmail, ValueKind::kId}) {
    EXPECT_FALSE(find_value(kind, ""));
    EXPECT_FALSE(find_value(kind, "\xff\xfe\xe4\xb8"));
  }
}

}  // namespace
}  // namespace hengshi::text
