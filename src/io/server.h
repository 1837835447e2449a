// server.h — an HTTP/1.1 server: one loop per thread, SO_REUSEPORT, a handler per loop.
//
// Units:   sizes in bytes, times in std::chrono.
// Errors:  listen() says which address and why. A broken, slow or oversized request is answered (400, 408, 413, 431),
//          its connection closed without the handler; what the handler throws is a CHECK.
// Threads: a connection lives on one loop; Exchange is used on that loop only. shutdown() from any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"
#include "io/task.h"

namespace hengshi::io {

using Header = std::pair<std::string_view, std::string_view>;

struct ServerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 8080;  // 0: any free one
  int threads = 1;
  size_t body_limit = size_t{10} << 20;
  size_t header_limit = size_t{32} << 10;
  size_t max_connections = 10'000;
  std::chrono::milliseconds header_timeout{10'000};  // from the first byte of a request to the end of its head
  std::chrono::milliseconds body_timeout{30'000};    // from there to the end of its body
  std::chrono::milliseconds idle_timeout{75'000};    // between requests
  std::chrono::milliseconds write_timeout{30'000};   // a client that does not read
  std::chrono::milliseconds drain_timeout{30'000};   // shutdown() waits this long for live exchanges
  std::string tls_cert;                              // PEM files; both or none
  std::string tls_key;
};

class HttpRequest {
 public:
  std::string method;
  std::string target;  // path and query, also of a request that named a whole URL
  std::string body;
  std::string peer;  // address of the client

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  // Value of a header, name in any case; empty when absent.
  std::string_view header(std::string_view name) const;
  std::vector<std::pair<std::string, std::string>> headers;
};

// One request and the way to answer it. Exactly one of send() or begin_stream()…end_stream().
class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual HttpRequest& request() = 0;

  // A whole response; Content-Length, Date, Connection are added. False: the client is gone.
  virtual Task<bool> send(int status, std::span<const Header> headers, std::string_view body) = 0;

  // A streamed response: head at once, then each write() flushed as it is. False: the client is gone.
  virtual Task<bool> begin_stream(int status, std::span<const Header> headers) = 0;
  virtual Task<bool> write(std::string_view bytes) = 0;
  // `clean` false closes the connection without the last chunk, so that the client sees the cut; before begin_stream()
  // it hangs up without an answer. HTTP/1.0 has no last chunk: there the caller's last write() must tell. A stream that
  // is not ended at all, or cut by the end of a drain, is reset there.
  virtual Task<void> end_stream(bool clean) = 0;

  // From now until the handler returns, calls `gone` once, on the loop, as soon as the client has left.
  virtual void watch_client(std::function<void()> gone) = 0;
};

using Handler = std::function<Task<void>(Exchange&)>;
// Called once on each loop's thread before it serves.
using HandlerFactory = std::function<Handler(EventLoop& loop, int index)>;

class Server {
 public:
  // Binds; nothing is accepted before run(). Counters: hengshi_http_connections, hengshi_http_rejected_total{reason}.
  static Result<std::unique_ptr<Server>> listen(ServerOptions options, HandlerFactory factory, Metrics& metrics);
  virtual ~Server() = default;
  virtual uint16_t port() const = 0;
  // Serves until shutdown(): then stops accepting, closes idle connections, lets live exchanges finish, and returns.
  virtual void run() = 0;
  virtual void shutdown() = 0;
};

}  // namespace hengshi::io
