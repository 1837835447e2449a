#include "train/plot.h"

#include <gtest/gtest.h>

#include <limits>

namespace hengshi::train {
namespace {

TEST(Plot, DrawsLinesBandAndMarkOnRoundAxes) {
  const std::string out = svg({"loss & risk",
                               "step",
                               "<loss>",
                               {{"train", {{0, 0.03}, {97, 0.91}}}, {"held out", {{0, 0.5}, {97, 0.4}}}},
                               {{{0, 0.1}, {97, 0.2}}, {{0, 0.3}, {97, 0.4}}},
                               0.05});
  EXPECT_TRUE(out.starts_with("<svg "));
  EXPECT_TRUE(out.ends_with("</svg>\n"));
  EXPECT_NE(out.find("loss &amp; risk"), std::string::npos);
  EXPECT_NE(out.find("&lt;loss&gt;"), std::string::npos);
  EXPECT_NE(out.find("held out</text>"), std::string::npos);
  EXPECT_NE(out.find(">100</text>"), std::string::npos);  // 97 rounded outwards
  EXPECT_NE(out.find(">1</text>"), std::string::npos);
  EXPECT_NE(out.find("points=\"70.0,"), std::string::npos);  // x = 0 lies on the left edge
  EXPECT_NE(out.find("<polygon"), std::string::npos);
  EXPECT_NE(out.find("stroke-dasharray"), std::string::npos);
}

TEST(Plot, NothingToDrawIsStillAPicture) {
  for (const Plot& plot : {Plot{}, Plot{"", "", "", {{"one", {{3, 3}}}}},
                           Plot{"", "", "", {{"bad", {{0, std::numeric_limits<double>::quiet_NaN()}}}}}}) {
    const std::string out = svg(plot);
    EXPECT_EQ(out.find("nan"), std::string::npos);
    EXPECT_EQ(out.find("inf"), std::string::npos);
    EXPECT_TRUE(out.ends_with("</svg>\n"));
  }
}

}  // namespace
}  // namespace hengshi::train
