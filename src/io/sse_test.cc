#include "io/sse.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hengshi::io {
namespace {

// "type|data" of all events that came.
std::vector<std::string> drain(SseParser& parser) {
  std::vector<std::string> out;
  SseEvent event;
  while (parser.next(event)) out.push_back(event.type + '|' + event.data);
  return out;
}

std::vector<std::string> read(std::string_view bytes) {
  SseParser parser;
  EXPECT_TRUE(parser.feed(bytes));
  return drain(parser);
}

using Events = std::vector<std::string>;

TEST(Sse, ReadsEvents) {
  EXPECT_EQ(read("data: a\n\ndata: b\n\n"), (Events{"|a", "|b"}));
  EXPECT_EQ(read("event: ping\ndata: {\"x\":1}\nid: 5\nretry: 10\n\n"), (Events{"ping|{\"x\":1}"}));
}

TEST(Sse, LinesEndInThreeWays) {
  EXPECT_EQ(read("data: a\r\n\r\ndata: b\r\n\r\n"), (Events{"|a", "|b"}));
  EXPECT_EQ(read("data: a\r\rdata: b\r\r"), (Events{"|a", "|b"}));
  EXPECT_EQ(read("data: a\r\n\ndata: b\n\r\ndata: c\r\r\n"), (Events{"|a", "|b", "|c"}));
}

TEST(Sse, DataLinesAreJoined) {
  EXPECT_EQ(read("data: a\ndata:b\ndata\ndata:  c\n\n"), (Events{"|a\nb\n\n c"}));
  EXPECT_EQ(read("data:\n\n"), (Events{"|"}));
  EXPECT_EQ(read("data\ndata\n\n"), (Events{"|\n"}));
}

TEST(Sse, WhatCarriesNothingIsIgnored) {
  EXPECT_EQ(read(": keep-alive\n\n:\n\n\n\nevent: x\n\nfoo: bar\nDATA: no\n data: no\n\ndata: yes\n\n"),
            (Events{"|yes"}));
  EXPECT_EQ(read("event: x\nevent: y\ndata: a\n\ndata: b\n\n"), (Events{"y|a", "|b"}));
  EXPECT_EQ(read("data: an event that is not ended\n"), (Events{}));
}

TEST(Sse, OneByteOrderMarkIsDropped) {
  EXPECT_EQ(read("\xEF\xBB\xBF"
                 "data: a\n\n"),
            (Events{"|a"}));
  EXPECT_EQ(read("\xEF\xBB\xBF\xEF\xBB\xBF"
                 "data: a\n\ndata: b\n\n"),
            (Events{"|b"}));  // The second one is part of a name.
  EXPECT_EQ(read("\xEF\xBB"
                 "data: a\n\ndata: b\n\n"),
            (Events{"|b"}));
}

TEST(Sse, NulAndBrokenCharactersPassThrough) {
  const std::string bytes("data: a\0b\xFF\n\n", 12);
  EXPECT_EQ(read(bytes), (Events{std::string("|a\0b\xFF", 5)}));
}

constexpr std::string_view kEverything =
    "\xEF\xBB\xBF: hello\r\n\r\nevent: a\rdata: 你好😀\r\rdata: x\ndata: y\r\n\r\nid: 1\ndata:{\"k\": \"é\"}\n\n\n"
    "retry: 5\r\ndata\r\n\ndata: [DONE]\n\n";

TEST(Sse, SplitsMayFallAnywhere) {
  const Events whole = read(kEverything);
  ASSERT_EQ(whole, (Events{"a|你好😀", "|x\ny", "|{\"k\": \"é\"}", "|", "|[DONE]"}));
  for (size_t first = 0; first <= kEverything.size(); ++first) {
    for (size_t second = first; second <= kEverything.size(); ++second) {
      SseParser parser;
      ASSERT_TRUE(parser.feed(kEverything.substr(0, first)));
      ASSERT_TRUE(parser.feed(kEverything.substr(first, second - first)));
      ASSERT_TRUE(parser.feed(kEverything.substr(second)));
      ASSERT_EQ(drain(parser), whole) << "split at " << first << " and " << second;
    }
  }
}

TEST(Sse, ByteByByteWithReadsBetween) {
  SseParser parser;
  Events events;
  for (const char byte : kEverything) {
    ASSERT_TRUE(parser.feed({&byte, 1}));
    for (auto& event : drain(parser)) events.push_back(std::move(event));
  }
  EXPECT_EQ(events, read(kEverything));
}

TEST(Sse, AnEventBeyondTheLimitIsAnError) {
  constexpr size_t kLimit = 16;
  SseParser one_line(kLimit);
  EXPECT_TRUE(one_line.feed("data: 0123456789"));
  const auto refused = one_line.feed("a");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUpstream);
  EXPECT_FALSE(one_line.feed("\n\n"));

  SseParser many_lines(kLimit);
  EXPECT_TRUE(many_lines.feed("data: 012345\ndata: 0\n"));
  EXPECT_FALSE(many_lines.feed("data: 012345\ndata: 0\n"));

  SseParser comment(kLimit);
  EXPECT_FALSE(comment.feed(": 01234567890123456789"));
}

TEST(Sse, TheLimitIsPerEvent) {
  SseParser parser(16);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(parser.feed("data: 012345\n\n"));
  EXPECT_EQ(drain(parser).size(), 100U);
}

TEST(Sse, WholeEventsSurviveALaterError) {
  SseParser parser(16);
  EXPECT_FALSE(parser.feed("data: a\n\ndata: 01234567890123456789\n\n"));
  EXPECT_EQ(drain(parser), (Events{"|a"}));
}

}  // namespace
}  // namespace hengshi::io
