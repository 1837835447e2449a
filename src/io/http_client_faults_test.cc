// Upstreams that are late, refuse, cut or go away, and callers that do.
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

TEST_F(HttpClientTest, HonoursDeadlines) {
  std::promise<void> over;
  auto done = over.get_future().share();
  ScriptedServer server([done](RawPeer& peer, int) {
    peer.read_until("\r\n\r\n");
    done.wait();
  });
  run([&]() -> Task<void> {
    const auto response = co_await client_->open(get(server.url("/")), Deadline::after(milliseconds(30)));
    EXPECT_EQ(code_of(response), ErrorCode::kDeadline);
    over.set_value();
  });
}

TEST_F(HttpClientTest, HonoursDeadlinesWithinABody) {
  std::promise<void> over;
  auto done = over.get_future().share();
  ScriptedServer server([done](RawPeer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart");
    done.wait();
  });
  run([&]() -> Task<void> {
    auto response = co_await client_->open(get(server.url("/")), soon());
    const auto part = co_await (*response)->read(soon());
    EXPECT_EQ(part.value(), "part");
    const auto late = co_await (*response)->read(Deadline::after(milliseconds(30)));
    EXPECT_EQ(code_of(late), ErrorCode::kDeadline);
    over.set_value();
  });
}

TEST_F(HttpClientTest, SaysWhoRefused) {
  uint16_t port = 0;
  {
    port = RunningServer([](Exchange&) -> Task<void> { co_return; }).port();
  }
  run([&]() -> Task<void> {
    const std::string host = "127.0.0.1:" + std::to_string(port);
    const auto response = co_await client_->open(get("http://user:secret@" + host + "/path?key=1"), soon());
    EXPECT_EQ(code_of(response), ErrorCode::kUpstream);
    EXPECT_EQ(response.error().message, host + ": cannot connect: Connection refused");
    const auto scheme = co_await client_->open(get("file:///etc/passwd"), soon());
    EXPECT_EQ(code_of(scheme), ErrorCode::kUpstream);
    ClientRequest broken = get("http://" + host);
    broken.headers = {{"X", "a\r\nY: b"}};
    const auto header = co_await client_->open(std::move(broken), soon());
    EXPECT_EQ(code_of(header), ErrorCode::kInvalidRequest);
  });
}

TEST_F(HttpClientTest, SaysThatAnAnswerWasCut) {
  ScriptedServer server([](RawPeer& peer, int nth) {
    peer.read_until("\r\n\r\n");
    if (nth == 0) return;
    peer.send(nth == 1 ? "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart"
                       : "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nparts\r\n");
  });
  run([&]() -> Task<void> {
    const auto nothing = co_await client_->open(get(server.url("/")), soon());
    EXPECT_EQ(code_of(nothing), ErrorCode::kUpstream);
    EXPECT_NE(nothing.error().message.find("cut before an answer"), std::string::npos) << nothing.error().message;
    for (const char* bytes : {"4", "5"}) {
      auto response = co_await client_->open(get(server.url("/")), soon());
      const auto body = co_await read_all(**response);
      EXPECT_EQ(code_of(body), ErrorCode::kUpstream);
      EXPECT_NE(body.error().message.find(std::string(": the connection was cut after ") + bytes + " bytes"),
                std::string::npos)
          << body.error().message;
    }
  });
}

TEST_F(HttpClientTest, RetriesWhenAPooledConnectionTurnsOutDead) {
  std::atomic<int> requests = 0;
  ScriptedServer server([&](RawPeer& peer, int nth) {
    peer.read_until("\r\n\r\n");
    ++requests;
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n" + std::to_string(nth));
    // The first connection dies under the second request.
    if (!peer.read_until("\r\n\r\n").empty()) ++requests;
  });
  run([&]() -> Task<void> {
    for (const char* expected : {"0", "1"}) {
      ClientRequest request = get(server.url("/"));
      request.method = "POST";
      request.body = "b";
      auto response = co_await client_->open(std::move(request), soon());
      EXPECT_TRUE(response.has_value());
      if (!response) co_return;
      const auto body = co_await read_all(**response);
      EXPECT_EQ(body.value(), expected);
    }
  });
  EXPECT_GE(requests, 3);
}

TEST_F(HttpClientTest, DestroyingTheResponseHangsUp) {
  std::promise<void> hung_up;
  ScriptedServer server([&](RawPeer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart");
    if (peer.read_until("never").empty()) hung_up.set_value();
  });
  run([&]() -> Task<void> {
    auto response = co_await client_->open(get(server.url("/")), soon());
    const auto part = co_await (*response)->read(soon());
    EXPECT_EQ(part.value(), "part");
    // Also under somebody who reads from it.
    boost::asio::post(loop_, [&] { response->reset(); });
    const auto more = co_await (*response)->read(soon());
    EXPECT_EQ(code_of(more), ErrorCode::kCancelled);
  });
  hung_up.get_future().wait();
}

TEST_F(HttpClientTest, CancellingTheCallerHangsUp) {
  std::promise<void> hung_up;
  std::promise<void> asked;
  ScriptedServer server([&](RawPeer& peer, int) {
    peer.read_until("\r\n\r\n");
    asked.set_value();
    if (peer.read_until("never").empty()) hung_up.set_value();
  });
  run([&]() -> Task<void> {
    Cancellation cancellation;
    std::thread canceller([&] {
      asked.get_future().wait();
      boost::asio::post(loop_, [&] { cancellation.request(); });
    });
    auto call = client_->open(get(server.url("/")), soon());
    const auto response = co_await cancellation.guard(std::move(call));
    EXPECT_EQ(code_of(response), ErrorCode::kCancelled);
    canceller.join();
  });
  hung_up.get_future().wait();
}

TEST_F(HttpClientTest, GoesDownWithItsLoop) {
  std::promise<void> hung_up;
  ScriptedServer upstream([&](RawPeer& peer, int) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\npart");
    if (peer.read_until("never").empty()) hung_up.set_value();
  });
  Metrics metrics;
  const std::string url = upstream.url("/");
  HandlerFactory factory = [url](boost::asio::io_context& loop, int) -> Handler {
    std::shared_ptr<HttpClient> client = HttpClient::make(loop);
    return [client, url](Exchange& exchange) -> Task<void> {
      auto response = co_await client->open(get(url), soon());
      co_await exchange.begin_stream(200, kText);
      const auto executor = co_await boost::asio::this_coro::executor;
      Waiter deaf(executor);
      for (;;) co_await deaf.wait();
    };
  };
  auto server = Server::listen({.port = 0, .drain_timeout = milliseconds(20)}, factory, metrics);
  ASSERT_TRUE(server);
  std::thread thread([&] { (*server)->run(); });
  RawPeer client = RawPeer::connect((*server)->port());
  client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
  client.read_until("\r\n\r\n");
  (*server)->shutdown();
  thread.join();
  hung_up.get_future().wait();
}

TEST_F(HttpClientTest, SaysWhichNameDoesNotResolve) {
  run([&]() -> Task<void> {
    const auto response = co_await client_->open(get("http://model.invalid/"), soon());
    EXPECT_EQ(code_of(response), ErrorCode::kUpstream);
    EXPECT_EQ(response.error().message, "model.invalid: the name does not resolve");
  });
}

}  // namespace
}  // namespace hengshi::io
