#include "io/http_client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>

#include "io/cancel.h"
#include "io/loopback.h"
#include "io/waiter.h"

namespace hengshi::io {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Header kText[] = {{"Content-Type", "text/plain"}};

class HttpClientTest : public testing::Test {
 protected:
  HttpClientTest() {
    for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"}) unsetenv(name);
    client_ = HttpClient::make(loop_);
  }

  template <typename F>
  void run(F&& body) {
    const auto task = [&]() -> Task<void> {
      co_await body();
      client_.reset();  // What it keeps open would keep the loop running.
    };
    run_on(loop_, task());
  }

  boost::asio::io_context loop_{1};
  std::unique_ptr<HttpClient> client_;
};

ClientRequest get(std::string url) {
  ClientRequest request;
  request.method = "GET";
  request.url = std::move(url);
  return request;
}

Deadline soon() { return Deadline::after(seconds(10)); }

// The whole body, or the error that ended it.
Task<Result<std::string>> read_all(ClientResponse& response) {
  std::string all;
  for (;;) {
    CO_TRY(const std::string bytes, co_await response.read(soon()));
    if (bytes.empty()) co_return all;
    all += bytes;
  }
}

template <typename T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? ErrorCode::kInternal : result.error().code;
}

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
  Handler proxy = [](Exchange& exchange) -> Task<void> {
    const std::string body = exchange.request().target;
    co_await exchange.send(200, kText, body);
  };
  RunningServer server(proxy);
  run([&]() -> Task<void> {
    ClientRequest request = get("http://model.invalid/v1/x");
    request.proxy = server.url("");
    auto response = co_await client_->open(std::move(request), soon());
    EXPECT_TRUE(response.has_value());
    if (!response) co_return;
    const auto body = co_await read_all(**response);
    EXPECT_EQ(body.value(), "http://model.invalid/v1/x");
  });
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
