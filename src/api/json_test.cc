#include "api/json.h"

#include <gtest/gtest.h>

#include <string>

#include "api/canonical.h"
#include "api/splice.h"

namespace hengshi::api::json {
namespace {

std::string canonical(std::string_view text) {
  const auto root = Document::of_thread().parse(text);
  if (!root) return "error";
  std::string out;
  Canonical({}).value(out, *root);
  return out;
}

std::string number(std::string_view token) {
  std::string out;
  append_canonical_number(out, token);
  return out;
}

TEST(Canonical, NumbersHaveOneSpelling) {
  for (const std::string_view one : {"1", "1.0", "1e0", "10e-1", "0.1E1", "100e-2", "0.01e+2"})
    EXPECT_EQ(number(one), "1");
  for (const std::string_view ten : {"10", "1e1", "10.0", "0.1e2"}) EXPECT_EQ(number(ten), "1e1");
  for (const std::string_view zero : {"0", "-0", "0.0", "0e5", "-0.00e-7"}) EXPECT_EQ(number(zero), "0");
  EXPECT_EQ(number("-1.50"), "-15e-1");
  EXPECT_EQ(number("1234567890123456789012345"), "1234567890123456789012345");
  EXPECT_EQ(number("1e99999999999999999999"), number("1e99999999999999999998"));  // both beyond any use
  EXPECT_NE(number("1e99999999999999999999"), number("1e-99999999999999999999"));
}

TEST(Canonical, KeysAreSortedAndEqualOnesAllKept) {
  EXPECT_EQ(canonical(R"({ "b" : 1 , "a" : [ true , null ] , "\u0061a" : "\u00e9\/" })"),
            R"({"a":[true,null],"aa":"é/","b":1})");
  EXPECT_EQ(canonical(R"({"longer_than_8_b":1,"longer_than_8_a":2,"longer_than_8_b":3})"),
            R"({"longer_than_8_a":2,"longer_than_8_b":1,"longer_than_8_b":3})");
  EXPECT_EQ(canonical(R"({"a":1,"a\u0000":2,"":3})"), "{\"\":3,\"a\":1,\"a\\u0000\":2}");
}

TEST(Document, EveryCutOfATextIsRefused) {
  const std::string text = R"({"a":[1,-2.5e+3,"x\u00e9\ud83d\ude00"],"b":{"c":null,"d":true,"e":false}})";
  ASSERT_NE(canonical(text), "error");
  for (size_t size = 0; size < text.size(); ++size) EXPECT_EQ(canonical(text.substr(0, size)), "error") << size;
}

TEST(Document, WhatIsNoJsonIsRefused) {
  for (const std::string_view text :
       {"",           " ",        "]",           "}",          "{]",          "[}",
        "[1 2]",      "[,1]",     "[1,,2]",      "{\"a\"}",    "{\"a\":}",    "{,}",
        "{\"a\":1,}", "{1:2}",    "tru",         "truee",      "nul",         "+1",
        ".5",         "1.",       "1e",          "1e+",        "-",           "--1",
        "0x1",        "Infinity", "'a'",         "\"\\u12\"",  "\"\\u12G4\"", "\"\\",
        "[1]]",       "1 2",      "\"a\" \"b\"", "{\"a\":1}{", "//x",         "[1]/**/"}) {
    EXPECT_EQ(canonical(text), "error") << text;
  }
}

TEST(Document, ValuesRememberTheirBytes) {
  const std::string text = R"( {"k\u0065y" : [ 1.50 , "s" ] } )";
  const auto root = Document::of_thread().parse(text);
  ASSERT_TRUE(root);
  const Value list = *root->begin();
  EXPECT_EQ(list.key(), "key");
  EXPECT_EQ(list.raw(), "[ 1.50 , \"s\" ]");
  EXPECT_EQ(list.member_byte(), 2U);
  EXPECT_EQ(list.size(), 2U);
  EXPECT_EQ((*list.begin()).raw(), "1.50");
  EXPECT_EQ((*list.begin()).number(), 1.5);
  EXPECT_FALSE((*list.begin()).integer());
}

TEST(Document, WholeNumbersMayBeFloats) {
  for (const std::string_view text : {"7", "7.0", "7e0", "70e-1"}) {
    EXPECT_EQ(Document::of_thread().parse(text)->integer(), 7) << text;
  }
  EXPECT_EQ(Document::of_thread().parse("-9223372036854775808")->integer(), std::numeric_limits<int64_t>::min());
  EXPECT_FALSE(Document::of_thread().parse("9223372036854775808")->integer());
  EXPECT_FALSE(Document::of_thread().parse("1e400")->number());
}

TEST(Splice, RemovesFirstMiddleAndLastMembers) {
  const std::string text = R"({ "a":1 , "b":2 , "c":3 })";
  const auto without = [&text](std::string_view gone) {
    const auto root = Document::of_thread().parse(text);
    std::string out;
    Splice splice(out, *root);
    for (const Value member : *root) gone.find(member.key()) != gone.npos ? splice.remove(member) : splice.keep(member);
    splice.finish();
    return out;
  };
  EXPECT_EQ(without(""), text);
  EXPECT_EQ(without("a"), R"({ "b":2 , "c":3 })");
  EXPECT_EQ(without("b"), R"({ "a":1 , "c":3 })");
  EXPECT_EQ(without("c"), R"({ "a":1 , "b":2 })");
  EXPECT_EQ(without("ab"), R"({ "c":3 })");
  EXPECT_EQ(without("abc"), R"({ })");
}

}  // namespace
}  // namespace hengshi::api::json
