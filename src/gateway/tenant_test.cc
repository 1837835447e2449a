#include "gateway/tenant.h"

#include <gtest/gtest.h>

namespace hengshi::gateway {
namespace {

TEST(Keyring, KnowsAKeyByItsHashOnly) {
  Keyring ring;
  EXPECT_TRUE(ring.add(sha256_hex("hs-secret"), {.name = "app", .tenant = "acme"}));
  EXPECT_FALSE(ring.add(sha256_hex("hs-secret"), {.name = "again"}));
  ASSERT_TRUE(ring.find("Bearer hs-secret"));
  EXPECT_EQ((*ring.find("Bearer hs-secret"))->tenant, "acme");
  for (const char* wrong : {"", "Bearer ", "Bearer hs-secre", "hs-secret", "Basic hs-secret"}) {
    const auto found = ring.find(wrong);
    ASSERT_FALSE(found) << wrong;
    EXPECT_EQ(http_status(found.error().code), 401);
    EXPECT_EQ(found.error().message.find("hs-"), std::string::npos);
  }
}

TEST(Keyring, WithoutKeysEveryoneIsAnonymous) {
  const Keyring ring;
  ASSERT_TRUE(ring.find(""));
  EXPECT_EQ((*ring.find("Bearer x"))->tenant, "default");
}

TEST(Limits, RequestsRefillWithTime) {
  ManualClock clock;
  Limits limits(clock);
  const Key key{.name = "k", .requests_per_minute = 2};
  ASSERT_TRUE(limits.admit(key));
  EXPECT_EQ(limits.admit(key)->remaining_requests, 0);
  const auto refused = limits.admit(key);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().retry_after_s, 30);
  EXPECT_EQ(limits.left(key).limit_requests, 2);
  EXPECT_EQ(limits.left(key).remaining_requests, 0);
  EXPECT_NE(refused.error().message.find("2 requests per minute"), std::string::npos);
  clock.advance(std::chrono::seconds(30));
  EXPECT_TRUE(limits.admit(key));
  EXPECT_FALSE(limits.admit(key));
}

TEST(Limits, TokensArePaidAfterwards) {
  ManualClock clock;
  Limits limits(clock);
  const Key key{.name = "k", .tokens_per_minute = 100};
  ASSERT_TRUE(limits.admit(key));
  limits.spend(key, 150);
  ASSERT_FALSE(limits.admit(key));
  clock.advance(std::chrono::seconds(29));
  EXPECT_FALSE(limits.admit(key));
  clock.advance(std::chrono::seconds(2));
  EXPECT_TRUE(limits.admit(key));
}

TEST(Limits, AKeyWithoutRatesIsFree) {
  ManualClock clock;
  Limits limits(clock);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(limits.admit(Key{}));
}

}  // namespace
}  // namespace hengshi::gateway
