#include "upstream/retry_after.h"

#include <gtest/gtest.h>

namespace hengshi::upstream {
namespace {

constexpr Wall kNow = Wall(std::chrono::seconds(784'111'777));  // Sun, 06 Nov 1994 08:49:37 GMT

TEST(RetryAfter, Seconds) {
  EXPECT_EQ(retry_after_s("7", kNow), 7);
  EXPECT_EQ(retry_after_s(" 120 ", kNow), 120);
  EXPECT_EQ(retry_after_s("0", kNow), 1);
  EXPECT_EQ(retry_after_s("-5", kNow), 1);
  EXPECT_EQ(retry_after_s("99999999999999999999", kNow), 86'400);
}

TEST(RetryAfter, Dates) {
  EXPECT_EQ(retry_after_s("Sun, 06 Nov 1994 08:50:00 GMT", kNow), 23);
  EXPECT_EQ(retry_after_s("Sunday, 06-Nov-94 08:50:00 GMT", kNow), 23);
  EXPECT_EQ(retry_after_s("Sun Nov  6 08:50:00 1994", kNow), 23);
  EXPECT_EQ(retry_after_s("Sun, 06 Nov 1994 08:00:00 GMT", kNow), 1);
  EXPECT_EQ(retry_after_s("Fri, 06 Nov 2026 08:00:00 GMT", kNow), 86'400);
  EXPECT_EQ(retry_after_s("Sun, 06 Nov 1994 08:50:00 GMT", kNow + std::chrono::milliseconds(500)), 23);
}

TEST(RetryAfter, WhatCannotBeReadIsNothing) {
  for (const char* text : {"", " ", "soon", "7 days", "1.5", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:50:00 GMT+1"}) {
    EXPECT_EQ(retry_after_s(text, kNow), 0) << text;
  }
}

}  // namespace
}  // namespace hengshi::upstream
