#include "io/http_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>

#include "io/cancel.h"
#include "io/test_http_client.h"
#include "io/waiter.h"

namespace hengshi::io {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(HttpClientTest, SendsARequestAndReadsTheAnswer) {
  std::promise<HttpRequest> seen;
  Handler handler = [&](Exchange& exchange) -> Task<void> {
    seen.set_value(exchange.request());
    const Header headers[] = {{"Content-Type", "application/json"}, {"X-Kind", "test"}};
    co_await exchange.send(201, headers, "answer");
  };
  RunningServer server(handler);
  run([&]() -> Task<void> {
    ClientRequest request;
    request.url = server.url("/v1/chat?x=1");
    request.headers = {{"Content-Type", "application/json"}, {"Authorization", "Bearer k"}, {"X-Empty", ""}};
    request.body = std::string(200'000, 'q');
    auto response = co_await client_->open(std::move(request), soon());
    EXPECT_TRUE(response.has_value());
    if (!response) co_return;
    EXPECT_EQ((*response)->status(), 201);
    EXPECT_EQ((*response)->header("x-kind"), "test");
    EXPECT_EQ((*response)->header("absent"), "");
    const auto body = co_await read_all(**response);
    EXPECT_EQ(body.value(), "answer");
    const auto end = co_await (*response)->read(soon());
    EXPECT_EQ(end.value(), "");
  });
  const HttpRequest request = seen.get_future().get();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/chat?x=1");
  EXPECT_EQ(request.body, std::string(200'000, 'q'));
  EXPECT_EQ(request.header("authorization"), "Bearer k");
  EXPECT_EQ(request.header("content-type"), "application/json");
  EXPECT_EQ(request.header("accept-encoding"), "identity");
  EXPECT_EQ(request.header("expect"), "");
}

TEST_F(HttpClientTest, SpeaksTheOtherMethodsOnReusedHandles) {
  Handler handler = [](Exchange& exchange) -> Task<void> {
    const std::string body = exchange.request().method + " " + exchange.request().body;
    co_await exchange.send(200, kText, body);
  };
  RunningServer server(handler);
  run([&]() -> Task<void> {
    for (const char* method : {"POST", "GET", "HEAD", "DELETE", "POST", "HEAD", "GET", "PUT"}) {
      ClientRequest request = get(server.url("/"));
      request.method = method;
      const bool has_body = request.method == "POST" || request.method == "PUT";
      if (has_body) request.body = "b";
      auto response = co_await client_->open(std::move(request), soon());
      EXPECT_TRUE(response.has_value()) << method;
      const auto body = co_await read_all(**response);
      const std::string expected = std::string(method) == "HEAD" ? "" : std::string(method) + (has_body ? " b" : " ");
      EXPECT_EQ(body.value(), expected);
    }
  });
}

TEST_F(HttpClientTest, KeepsConnectionsOpen) {
  std::atomic<int> connections = 0;
  ScriptedServer server([&](RawPeer& peer, int) {
    ++connections;
    while (!peer.read_until("\r\n\r\n").empty()) peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
  });
  run([&]() -> Task<void> {
    for (int i = 0; i < 5; ++i) {
      auto response = co_await client_->open(get(server.url("/")), soon());
      const auto body = co_await read_all(**response);
      EXPECT_EQ(body.value(), "ok");
    }
  });
  EXPECT_EQ(connections, 1);
}

TEST_F(HttpClientTest, ReadsAStreamAsItComes) {
  std::promise<void> first_read;
  ScriptedServer server([&](RawPeer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 103 Early Hints\r\nX-Early: 1\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
    first_read.get_future().wait();
    peer.send("3\r\ntwo\r\n0\r\n\r\n");
  });
  run([&]() -> Task<void> {
    auto response = co_await client_->open(get(server.url("/")), soon());
    EXPECT_EQ((*response)->status(), 200);
    EXPECT_EQ((*response)->header("x-early"), "");
    const auto one = co_await (*response)->read(soon());
    EXPECT_EQ(one.value(), "one");
    first_read.set_value();
    const auto rest = co_await read_all(**response);
    EXPECT_EQ(rest.value(), "two");
  });
}

TEST_F(HttpClientTest, MakesAFastUpstreamWait) {
  constexpr size_t kTotal = size_t{48} << 20;
  std::atomic<size_t> sent = 0;
  ScriptedServer server([&](RawPeer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(kTotal) + "\r\n\r\n");
    const std::string piece(size_t{64} << 10, 'x');
    for (; sent < kTotal; sent += piece.size()) {
      if (!peer.send(piece)) return;
    }
  });
  run([&]() -> Task<void> {
    auto response = co_await client_->open(get(server.url("/")), soon());
    const auto executor = co_await boost::asio::this_coro::executor;
    Waiter tick(executor);
    // Until nothing moves any more.
    for (size_t before = 1; before != sent;) {
      before = sent;
      co_await tick.wait(std::chrono::steady_clock::now() + milliseconds(50));
    }
    EXPECT_LT(sent, kTotal);
    const auto body = co_await read_all(**response);
    EXPECT_EQ(body.value().size(), kTotal);
  });
}

TEST_F(HttpClientTest, ManyCallsAtOnce) {
  Handler handler = [](Exchange& exchange) -> Task<void> {
    const std::string body = exchange.request().target;
    co_await exchange.send(200, kText, body);
  };
  RunningServer server(handler);
  constexpr int kCalls = 50;
  run([&]() -> Task<void> {
    int done = 0;
    const auto executor = co_await boost::asio::this_coro::executor;
    Waiter all(executor);
    const auto call = [&](std::string path) -> Task<void> {
      auto response = co_await client_->open(get(server.url(path)), soon());
      EXPECT_TRUE(response.has_value());
      if (response) {
        const auto body = co_await read_all(**response);
        EXPECT_EQ(body.value(), path);
      }
      if (++done == kCalls) all.wake();
    };
    for (int i = 0; i < kCalls; ++i) {
      boost::asio::co_spawn(executor, call("/" + std::to_string(i)), [](const std::exception_ptr&) {});
    }
    while (done < kCalls) co_await all.wait();
  });
}

TEST_F(HttpClientTest, GoesThroughAProxy) {
  ScriptedServer proxy([](RawPeer& peer, int) {
    const std::string head = peer.read_until("\r\n\r\n");
    const std::string line = head.substr(0, head.find("\r\n"));
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(line.size()) + "\r\n\r\n" + line);
  });
  run([&]() -> Task<void> {
    ClientRequest request = get("http://model.invalid/v1/x");
    request.proxy = proxy.url("");
    auto response = co_await client_->open(std::move(request), soon());
    EXPECT_TRUE(response.has_value());
    if (!response) co_return;
    const auto body = co_await read_all(**response);
    EXPECT_EQ(body.value(), "GET http://model.invalid/v1/x HTTP/1.1");
  });
}

}  // namespace
}  // namespace hengshi::io
