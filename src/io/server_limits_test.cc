// What a server refuses, whom it gives up on, and how it goes down.
#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <string>

#include "io/server.h"
#include "io/test_server.h"
#include "io/waiter.h"

namespace hengshi::io {
namespace {

using std::chrono::milliseconds;

TEST(Server, RefusesATooLargeBodyWhileItIsStillBeingSent) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  const std::string body(size_t{11} << 20, 'b');
  // The answer must survive that the client goes on sending for a while.
  const bool all_sent = client.send(post(body));
  const std::string answer = client.read_to_end();
  EXPECT_TRUE(all_sent);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 413 Content Too Large\r\n")) << answer;
  EXPECT_NE(answer.find("\r\nX-Request-Id: req-"), std::string::npos);
  EXPECT_NE(answer.find("{\"error\":{\"message\":\"The request body is larger than 10485760 bytes.\",\"type\":"
                        "\"invalid_request_error\",\"param\":null,\"code\":\"body_too_large\"}}"),
            std::string::npos)
      << answer;
  EXPECT_EQ(server.rejected("body_too_large"), 1);
}

TEST(Server, RefusesAHeaderFlood) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  client.send(get("/", "X: " + std::string(40'000, 'x') + "\r\n"));
  EXPECT_TRUE(client.read_to_end().starts_with("HTTP/1.1 431 "));
  RawPeer many = server.connect();
  std::string lines;
  for (int i = 0; i < 300; ++i) lines += "A: b\r\n";
  many.send(get("/", lines));
  EXPECT_TRUE(many.read_to_end().starts_with("HTTP/1.1 431 "));
  EXPECT_EQ(server.rejected("headers_too_large"), 2);
}

TEST(Server, RefusesWhatIsNotHttp) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  client.send("\x16\x03\x01 hello\r\n\r\n");
  const std::string answer = client.read_to_end();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << answer;
  EXPECT_NE(answer.find("\"code\":\"invalid_http\""), std::string::npos);
}

TEST(Server, TellsASlowHeadAndASlowBodyButNotAnIdleClient) {
  RunningServer server(
      echo, {.header_timeout = milliseconds(40), .body_timeout = milliseconds(40), .idle_timeout = milliseconds(40)});
  RawPeer head = server.connect();
  head.send("GET / HT");
  EXPECT_TRUE(head.read_to_end().starts_with("HTTP/1.1 408 "));
  RawPeer body = server.connect();
  body.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n12");
  EXPECT_TRUE(body.read_to_end().starts_with("HTTP/1.1 408 "));
  RawPeer silent = server.connect();
  EXPECT_EQ(silent.read_to_end(), "");
  RawPeer idle = server.connect();
  idle.send(get("/"));
  EXPECT_FALSE(idle.read_response().empty());
  EXPECT_EQ(idle.read_to_end(), "");
  EXPECT_EQ(server.rejected("timeout"), 2);
}

TEST(Server, AnswersAClientThatHasClosedItsHalf) {
  RunningServer server(echo);
  RawPeer client = server.connect();
  client.send(get("/half"));
  client.half_close();
  EXPECT_TRUE(ends_with(client.read_to_end(), "GET /half "));
  RawPeer broken = server.connect();
  broken.send("GET / HTTP/1.1\r\nHos");
  broken.half_close();
  EXPECT_EQ(broken.read_to_end(), "");
}

TEST(Server, GivesUpOnAClientThatDoesNotRead) {
  std::promise<bool> sent;
  Handler handler = [&](Exchange& exchange) -> Task<void> {
    const std::string body(size_t{64} << 20, 'x');
    sent.set_value(co_await exchange.send(200, kText, body));
  };
  RunningServer server(handler, {.write_timeout = milliseconds(40)});
  RawPeer client = server.connect();
  client.send(get("/"));
  EXPECT_FALSE(sent.get_future().get());
}

TEST(Server, RefusesConnectionsBeyondTheLimit) {
  RunningServer server(echo, {.max_connections = 1});
  RawPeer first = server.connect();
  first.send(get("/"));
  first.read_response();
  RawPeer second = server.connect();
  second.send(get("/"));
  const std::string answer = second.read_to_end();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 503 ")) << answer;
  EXPECT_NE(answer.find("\r\nRetry-After: 1\r\n"), std::string::npos);
  first.send(get("/still"));
  EXPECT_TRUE(ends_with(first.read_response(), "GET /still "));
}

// Waits inside a handler until the test lets it go on.
Task<void> until_open(const std::shared_future<void>& gate) {
  const auto executor = co_await boost::asio::this_coro::executor;
  Waiter tick(executor);
  while (gate.wait_for(milliseconds(0)) != std::future_status::ready) {
    if (co_await tick.wait(std::chrono::steady_clock::now() + milliseconds(1)) == Woken::kCancelled) co_return;
  }
}

TEST(Server, ShutdownLetsALiveStreamFinishAndClosesTheIdle) {
  std::promise<void> gate;
  const auto open = gate.get_future().share();
  Handler handler = [open](Exchange& exchange) -> Task<void> {
    if (exchange.request().path() != "/stream") {
      co_await echo(exchange);
      co_return;
    }
    co_await exchange.begin_stream(200, kText);
    co_await exchange.write("begun");
    co_await until_open(open);
    co_await exchange.write("ended");
    co_await exchange.end_stream(true);
  };
  RunningServer server(handler, {.threads = 2});
  RawPeer idle = server.connect();
  idle.send(get("/idle"));
  idle.read_response();
  RawPeer live = server.connect();
  live.send(get("/stream"));
  live.read_until("begun\r\n");
  server.shutdown();
  EXPECT_EQ(idle.read_to_end(), "");  // Seen closed: the drain has begun.
  gate.set_value();
  EXPECT_EQ(live.read_to_end(), "5\r\nended\r\n0\r\n\r\n");
  server.stop();
  EXPECT_EQ(server.metrics.gauge("hengshi_http_connections", "Open client connections").value(), 0);
}

TEST(Server, ShutdownCutsWhatDoesNotFinish) {
  std::promise<void> never;
  const auto open = never.get_future().share();
  std::atomic<bool> gone = false;
  Handler handler = [&, open](Exchange& exchange) -> Task<void> {
    std::function<void()> on_gone = [&gone] { gone = true; };
    exchange.watch_client(std::move(on_gone));
    co_await exchange.begin_stream(200, kText);
    co_await exchange.write("begun");
    co_await until_open(open);
    const bool there = co_await exchange.write("more");
    EXPECT_FALSE(there);
  };
  RunningServer server(handler, {.drain_timeout = milliseconds(40)});
  RawPeer live = server.connect();
  live.send(get("/"));
  live.read_until("begun\r\n");
  server.shutdown();
  EXPECT_EQ(live.read_to_end(), "");
  server.stop();
  EXPECT_TRUE(gone);
}

TEST(Server, ShutdownDestroysAHandlerThatHeedsNothing) {
  struct Witness {
    std::atomic<bool>& destroyed;
    ~Witness() { destroyed = true; }
  };
  std::atomic<bool> destroyed = false;
  Handler handler = [&](Exchange& exchange) -> Task<void> {
    const Witness witness{destroyed};
    co_await exchange.begin_stream(200, kText);
    const auto executor = co_await boost::asio::this_coro::executor;
    Waiter deaf(executor);
    for (;;) co_await deaf.wait();
  };
  RunningServer server(handler, {.drain_timeout = milliseconds(20)});
  RawPeer live = server.connect();
  live.send(get("/"));
  live.read_until("\r\n\r\n");
  server.stop();
  EXPECT_TRUE(destroyed);
}

// The end of the connection is the end of an HTTP/1.0 answer: one that was cut must not look whole.
TEST(Server, AnAnswerToAnOldClientThatIsCutEndsWithAReset) {
  std::promise<void> never;
  const auto open = never.get_future().share();
  Handler handler = [open](Exchange& exchange) -> Task<void> {
    co_await exchange.begin_stream(200, kText);
    co_await exchange.write("begun");
    if (exchange.request().path() == "/forgotten") co_return;
    if (exchange.request().path() == "/ended") {
      co_await exchange.end_stream(true);
      co_return;
    }
    co_await until_open(open);
  };
  RunningServer server(handler, {.drain_timeout = milliseconds(40)});
  const auto end_of = [&](std::string_view path) {
    RawPeer client = server.connect();
    client.send("GET " + std::string(path) + " HTTP/1.0\r\n\r\n");
    client.read_until("begun");
    if (path == "/cut") server.shutdown();
    char byte = 0;
    return ::recv(client.fd(), &byte, 1, 0) == 0 ? 0 : errno;
  };
  EXPECT_EQ(end_of("/ended"), 0);
  EXPECT_EQ(end_of("/forgotten"), ECONNRESET);
  EXPECT_EQ(end_of("/cut"), ECONNRESET);
}

}  // namespace
}  // namespace hengshi::io
