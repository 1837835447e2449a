#include "base/log.h"

#include <gtest/gtest.h>

namespace hengshi {
namespace {

TEST(Log, WritesTextAsTextAndNumbersAsNumbers) {
  testing::internal::CaptureStderr();
  log(LogLevel::kError, "tried", {{"who", "a \"b\"\n"}, {"status", 404}, {"total_us", int64_t{-5'000'000'000}}});
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(line.starts_with(R"({"time":")")) << line;
  EXPECT_TRUE(line.ends_with(R"("level":"error","event":"tried","who":"a \"b\"\n","status":404,"total_us":-5000000000})"
                             "\n"))
      << line;
}

}  // namespace
}  // namespace hengshi
