#include "api/embeddings.h"

#include <gtest/gtest.h>

namespace hengshi::api {
namespace {

std::string fault(std::string_view input) {
  const auto request = parse_embeddings(R"({"model":"m","input":)" + std::string(input) + "}");
  if (!request) return "no request: " + request.error().message;
  const auto checked = check_token_ids(*request, 100);
  if (checked) return "fine";
  EXPECT_EQ(http_status(checked.error().code), 400);
  return checked.error().param + " " + checked.error().message;
}

TEST(Embeddings, ATokenIdOutsideTheVocabularyIsNamedByItsPlace) {
  EXPECT_EQ(fault("[0,99]"), "fine");
  EXPECT_EQ(fault("[[0],[99,5]]"), "fine");
  EXPECT_EQ(fault(R"("text")"), "fine");
  EXPECT_EQ(fault("[0,100]"),
            "input[1] Invalid value for 'input[1]': 100 is no token id of this model, whose last is 99.");
  EXPECT_TRUE(fault("[[0,1],[2,3,2147483647,100]]").starts_with("input[1][2] "))
      << fault("[[0,1],[2,3,2147483647,100]]");
  EXPECT_TRUE(fault("[[7,-1]]").starts_with("no request: Invalid value for 'input[0][1]'")) << fault("[[7,-1]]");
}

}  // namespace
}  // namespace hengshi::api
