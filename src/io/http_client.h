// http_client.h — HTTP requests to upstreams on the loop that asks: pooled, HTTP/2 where offered, proxies.
//
// Units:   times in std::chrono; bodies in bytes as received.
// Errors:  kUpstream (refused, reset, cut, TLS, DNS), kDeadline (no answer by then), kCancelled. Messages name the host
//          and the fault, never a header or a body.
// Threads: one client per loop, used on that loop only.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "io/task.h"

namespace hengshi::io {

struct ClientRequest {
  std::string method = "POST";
  std::string url;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::string proxy;    // empty: as the environment says
  std::string ca_file;  // PEM certificates of those who may sign the server's and the proxy's; empty: the system's
  std::chrono::milliseconds connect_timeout{1'000};
};

// A response whose head has come. Destroying it cancels the transfer.
class ClientResponse {
 public:
  virtual ~ClientResponse() = default;
  virtual int status() const = 0;
  virtual std::string_view header(std::string_view name) const = 0;
  // The next bytes of the body, as many as are there; empty at its end.
  virtual Task<Result<std::string>> read(Deadline deadline) = 0;
};

class HttpClient {
 public:
  static std::unique_ptr<HttpClient> make(EventLoop& loop);
  virtual ~HttpClient() = default;
  // Returns when the final response head is there. An idle pooled connection that turns out dead is retried once.
  virtual Task<Result<std::unique_ptr<ClientResponse>>> open(ClientRequest request, Deadline deadline) = 0;
};

}  // namespace hengshi::io
