#include "base/metrics.h"

#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/log.h"
#include "base/money.h"

namespace hengshi {
namespace {

TEST(Metrics, RendersFamiliesOnceWithTheirSeries) {
  Metrics metrics;
  metrics.counter("x_total", "Things.", {{"path", "light"}}).add(2);
  metrics.counter("x_total", "Things.", {{"path", "light"}}).add(1);
  metrics.counter("x_total", "Things.", {{"path", "a\"b"}}).add(1);
  EXPECT_EQ(metrics.render(),
            "# HELP x_total Things.\n# TYPE x_total counter\n"
            "x_total{path=\"a\\\"b\"} 1\nx_total{path=\"light\"} 3\n");
}

TEST(Metrics, HistogramBucketsAreCumulative) {
  Metrics metrics;
  auto& h = metrics.histogram("t_seconds", "Time.");
  h.observe(std::chrono::microseconds(40));
  h.observe(std::chrono::milliseconds(2));
  h.observe(std::chrono::minutes(5));
  const std::string text = metrics.render();
  EXPECT_NE(text.find("t_seconds_bucket{le=\"5e-05\"} 1\n"), text.npos);
  EXPECT_NE(text.find("t_seconds_bucket{le=\"0.0025\"} 2\n"), text.npos);
  EXPECT_NE(text.find("t_seconds_bucket{le=\"+Inf\"} 3\n"), text.npos);
  EXPECT_NE(text.find("t_seconds_count 3\n"), text.npos);
}

TEST(Money, RoundsOnceOverTheWholeCall) {
  const Price price{150'000, 75'000, 600'000};
  EXPECT_EQ(cost_micro_usd(price, 1000, 0, 1000), 750);
  EXPECT_EQ(cost_micro_usd(price, 1000, 1000, 0), 75);
  EXPECT_EQ(cost_micro_usd(price, 3, 0, 0), 0);
  EXPECT_EQ(cost_micro_usd(price, 4, 0, 0), 1);
}

TEST(Digest, KnowsTheStandardVector) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(digest("abc")), "ba7816bf8f01cfea414140de5dae2223");
}

TEST(Json, EscapesWhatJsonForbidsAndKeepsTheRest) {
  std::string out;
  append_json_string(out, "a\"\\\n\x01中");
  EXPECT_EQ(out, "\"a\\\"\\\\\\n\\u0001中\"");
}

}  // namespace
}  // namespace hengshi
