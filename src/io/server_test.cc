#include "io/server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

#include "io/test_server.h"
#include "io/waiter.h"

namespace hengshi::io {
namespace {

using std::chrono::milliseconds;

TEST(Server, KeepsAConnectionAndWritesAPlainHead) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  client.send(get("/a"));
  const std::string first = client.read_response();
  EXPECT_TRUE(first.starts_with("HTTP/1.1 200 OK\r\nServer: hengshi\r\nDate: ")) << first;
  EXPECT_NE(first.find(" GMT\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\nGET /a "), std::string::npos)
      << first;
  client.send(post("body"));
  EXPECT_TRUE(ends_with(client.read_response(), "POST /p body"));
  EXPECT_EQ(server.metrics.gauge("hengshi_http_connections", "Open client connections").value(), 1);
}

TEST(Server, AnswersPipelinedRequestsInOrder) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  client.send(get("/1") + post("two") + get("/3", "Connection: close\r\n") + get("/never"));
  EXPECT_TRUE(ends_with(client.read_response(), "GET /1 "));
  EXPECT_TRUE(ends_with(client.read_response(), "POST /p two"));
  const std::string last = client.read_to_end();
  EXPECT_NE(last.find("Connection: close\r\n"), std::string::npos);
  EXPECT_TRUE(ends_with(last, "GET /3 ")) << last;
}

TEST(Server, TakesAChunkedBodyOneByteAtATime) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  const std::string request =
      "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
  for (const char byte : request) client.send({&byte, 1});
  EXPECT_TRUE(ends_with(client.read_response(), "POST / abcde"));
}

TEST(Server, HeadHasALengthAndNoBody) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  client.send("HEAD /h HTTP/1.1\r\nHost: h\r\n\r\n" + get("/next"));
  const std::string head = client.read_until("\r\n\r\n");
  EXPECT_NE(head.find("Content-Length: 8\r\n"), std::string::npos) << head;
  EXPECT_TRUE(client.read_response().starts_with("HTTP/1.1 200 OK"));
}

TEST(Server, SpeaksToOldClients) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  client.send("GET /1 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_NE(client.read_response().find("Connection: keep-alive\r\n"), std::string::npos);
  client.send("GET /2 HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(ends_with(client.read_to_end(), "GET /2 "));
}

TEST(Server, SaysContinueToWhoAsks) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  client.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  EXPECT_EQ(client.read_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send("ok");
  EXPECT_TRUE(ends_with(client.read_response(), "POST / ok"));
}

TEST(Server, TakesALargeBodyAndGivesALargeAnswer) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  const std::string body(size_t{9} << 20, 'b');
  std::thread writer([&] { client.send(post(body)); });
  const std::string answer = client.read_response();
  writer.join();
  EXPECT_TRUE(ends_with(answer, body));
}

TEST(Server, AnswersForAHandlerThatDidNot) {
  Handler handler = [](Exchange&) -> Task<void> { co_return; };
  RunningServer server(handler);
  RawPeer client = server.connect();
  client.send(get("/"));
  EXPECT_TRUE(client.read_response().starts_with("HTTP/1.1 500 "));
}

TEST(Server, KeepsLineBreaksOutOfHeaders) {
  Handler handler = [](Exchange& exchange) -> Task<void> {
    const Header bad[] = {{"X-A", "1\r\nX-B: 2"}};
    co_await exchange.send(200, bad, "");
  };
  RunningServer server(handler);
  RawPeer client = server.connect();
  client.send(get("/"));
  EXPECT_NE(client.read_response().find("X-A: 1  X-B: 2\r\n"), std::string::npos);
}

TEST(Server, StreamsChunksAsTheyAreWritten) {
  Handler handler = [](Exchange& exchange) -> Task<void> {
    co_await exchange.begin_stream(200, kText);
    co_await exchange.write("one");
    co_await exchange.write("");
    co_await exchange.write("0123456789abcdef");
    co_await exchange.end_stream(exchange.request().path() == "/clean");
  };
  RunningServer server(handler);
  RawPeer client = server.connect();
  client.send(get("/clean") + get("/cut"));
  const std::string clean = client.read_until("0\r\n\r\n");
  EXPECT_NE(clean.find("Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n10\r\n0123456789abcdef\r\n0\r\n\r\n"),
            std::string::npos)
      << clean;
  EXPECT_TRUE(ends_with(client.read_to_end(), "10\r\n0123456789abcdef\r\n"));
  RawPeer old = server.connect();
  old.send("GET /clean HTTP/1.0\r\n\r\n");
  EXPECT_TRUE(ends_with(old.read_to_end(), "\r\n\r\none0123456789abcdef"));
}

// A handler that stops at a point of its answer and waits there for the client to leave.
struct GoneProbe {
  std::promise<void> waiting;
  std::promise<void> gone;

  Handler handler(int writes) {
    return [this, writes](Exchange& exchange) -> Task<void> {
      const auto executor = co_await boost::asio::this_coro::executor;
      Waiter left(executor);
      std::function<void()> on_gone = [this, &left] {
        gone.set_value();
        left.wake();
      };
      exchange.watch_client(std::move(on_gone));
      if (writes > 0) co_await exchange.begin_stream(200, kText);
      for (int i = 1; i < writes; ++i) co_await exchange.write("token");
      waiting.set_value();
      co_await left.wait();
      if (writes > 0) co_await exchange.end_stream(false);
    };
  }
};

TEST(Server, NoticesThatTheClientHasLeftInEveryPhase) {
  for (const int writes : {0, 1, 3}) {
    GoneProbe probe;
    RunningServer server(probe.handler(writes));
    RawPeer client = server.connect();
    client.send(get("/"));
    probe.waiting.get_future().wait();
    client.close();
    probe.gone.get_future().wait();
  }
}

TEST(Server, APipelinedRequestIsNoDeparture) {
  std::atomic<int> gone = 0;
  std::promise<void> second_sent;
  auto sent = second_sent.get_future().share();
  std::promise<void> first_waits;
  std::atomic<int> handled = 0;
  Handler handler = [&, sent](Exchange& exchange) -> Task<void> {
    std::function<void()> on_gone = [&gone] { ++gone; };
    exchange.watch_client(std::move(on_gone));
    if (handled++ == 0) {
      first_waits.set_value();
      const auto executor = co_await boost::asio::this_coro::executor;
      Waiter tick(executor);
      // Turns of the loop until the bytes are sent, and some for them to be read.
      while (sent.wait_for(milliseconds(0)) != std::future_status::ready) {
        co_await tick.wait(std::chrono::steady_clock::now() + milliseconds(1));
      }
      for (int i = 0; i < 20; ++i) co_await tick.wait(std::chrono::steady_clock::now() + milliseconds(1));
    }
    co_await echo(exchange);
  };
  RunningServer server(handler);
  RawPeer client = server.connect();
  client.send(get("/1"));
  first_waits.get_future().wait();
  client.send(get("/2"));
  second_sent.set_value();
  EXPECT_TRUE(ends_with(client.read_response(), "GET /1 "));
  EXPECT_TRUE(ends_with(client.read_response(), "GET /2 "));
  EXPECT_EQ(gone, 0);
  EXPECT_EQ(handled, 2);
}

TEST(Server, WatchingReadsAheadWithoutLosingAByte) {
  Handler handler = [](Exchange& exchange) -> Task<void> {
    exchange.watch_client([] {});
    co_await echo(exchange);
  };
  RunningServer server(handler);
  RawPeer client = server.connect();
  const std::string large(100'000, 'L');
  for (int round = 0; round < 20; ++round) {
    client.send(get("/1") + post(large) + get("/3").substr(0, 9));
    EXPECT_TRUE(ends_with(client.read_response(), "GET /1 "));
    EXPECT_TRUE(ends_with(client.read_response(), large));
    client.send(get("/3").substr(9));
    EXPECT_TRUE(ends_with(client.read_response(), "GET /3 "));
    client.send(get("/4"));
    EXPECT_TRUE(ends_with(client.read_response(), "GET /4 "));
  }
}

TEST(Server, SaysWhyItCannotListen) {
  RunningServer server(echo);
  Metrics metrics;
  HandlerFactory factory = [](boost::asio::io_context&, int) -> Handler { return echo; };
  const auto taken = Server::listen({.port = server.port()}, factory, metrics);
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("127.0.0.1:" + std::to_string(server.port())), std::string::npos);
  EXPECT_NE(taken.error().message.find("in use"), std::string::npos) << taken.error().message;
  EXPECT_EQ(taken.error().param, "port");
  const auto no_address = Server::listen({.address = "nowhere", .port = 0}, factory, metrics);
  ASSERT_FALSE(no_address);
  EXPECT_EQ(no_address.error().param, "address");
}

}  // namespace
}  // namespace hengshi::io
