#include "io/request_parser.h"

#include <gtest/gtest.h>

namespace hengshi::io {
namespace {

// Feeds the bytes in pieces of `step`, as a socket might; answers the bytes left over when the request is done.
Result<std::string> parse(RequestParser& parser, std::string_view bytes, size_t step) {
  std::string waiting;
  while (!bytes.empty()) {
    waiting += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    TRY(const size_t taken, parser.feed(waiting));
    waiting.erase(0, taken);
    if (parser.done()) return waiting + std::string(bytes);
  }
  return fail(ErrorCode::kInternal, "incomplete");
}

class RequestParserTest : public testing::TestWithParam<size_t> {
 protected:
  HttpRequest request_;
  RequestParser parser_{request_, 1024, 64};
};
INSTANTIATE_TEST_SUITE_P(Split, RequestParserTest, testing::Values(1, 2, 3, 7, 100'000));

TEST_P(RequestParserTest, ReadsALengthAndLeavesWhatFollows) {
  const auto rest =
      parse(parser_, "POST /v1/x?a=1 HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET /", GetParam());
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(*rest, "GET /");
  EXPECT_EQ(request_.method, "POST");
  EXPECT_EQ(request_.target, "/v1/x?a=1");
  EXPECT_EQ(request_.path(), "/v1/x");
  EXPECT_EQ(request_.body, "hello");
  EXPECT_EQ(request_.header("hOST"), "h");
  EXPECT_EQ(request_.header("absent"), "");
  EXPECT_TRUE(parser_.keep_alive());
}

TEST_P(RequestParserTest, JoinsChunksAndDropsTrailers) {
  const auto rest = parse(parser_,
                          "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "3\r\nabc\r\n4;ext=1\r\ndefg\r\n0\r\nHost: evil\r\n\r\nrest",
                          GetParam());
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(*rest, "rest");
  EXPECT_EQ(request_.body, "abcdefg");
  EXPECT_EQ(request_.headers.size(), 2u);
}

TEST_P(RequestParserTest, ForgetsTheRequestBefore) {
  ASSERT_TRUE(parse(parser_, "POST /a HTTP/1.1\r\nHost: h\r\nX-A: 1\r\nContent-Length: 1\r\n\r\nz", GetParam()));
  parser_.reset();
  ASSERT_TRUE(parse(parser_, "GET /b HTTP/1.0\r\nHost: i\r\n\r\n", GetParam()));
  EXPECT_EQ(request_.method, "GET");
  EXPECT_EQ(request_.body, "");
  ASSERT_EQ(request_.headers.size(), 1u);
  EXPECT_EQ(request_.headers[0].second, "i");
  EXPECT_FALSE(parser_.keep_alive());
  EXPECT_FALSE(parser_.http_1_1());
}

TEST_P(RequestParserTest, TakesThePathOfAWholeUrl) {
  const auto target = [&](std::string_view asked) {
    parser_.reset();
    const auto rest = parse(parser_, "GET " + std::string(asked) + " HTTP/1.1\r\nHost: h\r\n\r\n", GetParam());
    return rest ? request_.target : rest.error().message;
  };
  EXPECT_EQ(target("http://host:8080/v1/models?a=http://b/"), "/v1/models?a=http://b/");
  EXPECT_EQ(target("HTTPS://[::1]/v1"), "/v1");
  EXPECT_EQ(target("http://host"), "/");
  EXPECT_EQ(target("http://host?a=1"), "/?a=1");
  EXPECT_EQ(target("/v1/models/http://x/y"), "/v1/models/http://x/y");
  EXPECT_EQ(target("ftp://host/v1"), "ftp://host/v1");
  EXPECT_EQ(target("*"), "*");
}

TEST_P(RequestParserTest, SkipsAFewEmptyLinesBeforeARequest) {
  const std::string request = "GET /b HTTP/1.1\r\nHost: h\r\n\r\n";
  const auto rest = parse(parser_, "\r\n\r\n" + request + "\r\n", GetParam());
  ASSERT_TRUE(rest) << rest.error().message;
  EXPECT_EQ(request_.target, "/b");
  EXPECT_EQ(*rest, "\r\n");
  parser_.reset();
  ASSERT_EQ(parser_.feed("\r\n\r"), 2u);
  EXPECT_FALSE(parser_.started());
  EXPECT_FALSE(parse(parser_, "\rGET / HTTP/1.1\r\nHost: h\r\n\r\n", GetParam()));
  parser_.reset();
  std::string flood;
  for (int i = 0; i < 9; ++i) flood += "\r\n";
  const auto refused = parse(parser_, flood + request, GetParam());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().reason, "invalid_http");
}

TEST_P(RequestParserTest, RefusesWhatIsTooLarge) {
  const auto code = [&](std::string_view bytes) {
    parser_.reset();
    const auto rest = parse(parser_, bytes, GetParam());
    return rest ? ErrorCode::kInternal : rest.error().code;
  };
  EXPECT_EQ(code("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 65\r\n\r\n"), ErrorCode::kTooLarge);
  EXPECT_EQ(code("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n" + std::string(64, 'x') +
                 "\r\n1\r\nx\r\n0\r\n\r\n"),
            ErrorCode::kTooLarge);
  EXPECT_EQ(code("GET / HTTP/1.1\r\nHost: h\r\nX: " + std::string(2000, 'x') + "\r\n\r\n"),
            ErrorCode::kHeadersTooLarge);
  std::string lines;
  for (int i = 0; i < 200; ++i) lines += "X: 1234\r\n";
  EXPECT_EQ(code("GET / HTTP/1.1\r\nHost: h\r\n" + lines + "\r\n"), ErrorCode::kHeadersTooLarge);
}

TEST_P(RequestParserTest, RefusesWhatIsNoRequest) {
  for (const std::string_view bytes : {
           "\x16\x03\x01\x02\x00\x01\x00\r\n\r\n",          // TLS
           "GET / HTTP/2.0\r\nHost: h\r\n\r\n",             // a version of later
           "GET / HTTP/1.1\r\n\r\n",                        // no host
           "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",  // two
           "GET / HTTP/1.1\r\nHost : h\r\n\r\n",            // a space
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",  // smuggling
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: xchunked\r\n\r\n",                      //
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",           //
           "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",                               //
           "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n",             //
       }) {
    parser_.reset();
    const auto rest = parse(parser_, bytes, GetParam());
    ASSERT_FALSE(rest) << bytes;
    EXPECT_EQ(rest.error().code, ErrorCode::kInvalidRequest) << bytes;
  }
}

TEST_P(RequestParserTest, SaysWhenTheClientWaitsForContinue) {
  ASSERT_TRUE(parser_.feed("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-Continue\r\nContent-Length: 3\r\n\r\n"));
  EXPECT_TRUE(parser_.head_done());
  EXPECT_FALSE(parser_.done());
  EXPECT_TRUE(parser_.expects_continue());
}

}  // namespace
}  // namespace hengshi::io
