// loopback.h — for tests: real sockets on the loopback, a server of ours on a thread, and scripted peers.
//
// Errors:  what fails here fails the test by CHECK.
// Threads: RawClient and RawPeer block; each belongs to one thread.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/co_spawn.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/check.h"
#include "io/server.h"

namespace hengshi::io {

inline sockaddr_in loopback(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// A blocking socket; a read that waits longer than ten seconds fails the test instead of hanging it.
class RawPeer {
 public:
  explicit RawPeer(int fd) : fd_(fd) {
    const timeval limit{.tv_sec = 10, .tv_usec = 0};
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  RawPeer(RawPeer&& other) noexcept : fd_(std::exchange(other.fd_, -1)), got_(std::move(other.got_)) {}
  RawPeer& operator=(RawPeer&&) = delete;
  ~RawPeer() { close(); }

  static RawPeer connect(uint16_t port) {
    const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(port);
    CHECK(::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0, "connects");
    return RawPeer(fd);
  }

  // False: the other side has closed.
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }

  // Everything up to and with `mark`, or up to the end when it never comes.
  std::string read_until(std::string_view mark) {
    for (;;) {
      const size_t at = got_.find(mark);
      if (at != std::string::npos) {
        std::string out = got_.substr(0, at + mark.size());
        got_.erase(0, out.size());
        return out;
      }
      if (!receive()) return std::exchange(got_, {});
    }
  }

  std::string read_to_end() {
    while (receive()) continue;
    return std::exchange(got_, {});
  }

  // A head and as much of a body as its Content-Length says.
  std::string read_response() {
    std::string out = read_until("\r\n\r\n");
    const size_t at = out.find("Content-Length: ");
    if (at == std::string::npos) return out;
    const size_t length = std::stoul(out.substr(at + 16));
    while (got_.size() < length && receive()) continue;
    out += got_.substr(0, length);
    got_.erase(0, length);
    return out;
  }

  void half_close() const { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  int fd() const { return fd_; }

 private:
  bool receive() {
    char bytes[4096];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    CHECK(n >= 0 || errno != EAGAIN, "the peer keeps this test waiting");
    if (n <= 0) return false;
    got_.append(bytes, static_cast<size_t>(n));
    return true;
  }

  int fd_;
  std::string got_;
};

// Hands every connection, one after the other, to a script on a thread of its own.
class ScriptedServer {
 public:
  using Script = std::function<void(RawPeer&, int nth)>;

  explicit ScriptedServer(Script script) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    CHECK(::bind(fd_, reinterpret_cast<const sockaddr*>(&address), size) == 0 && ::listen(fd_, 16) == 0, "listens");
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this, script = std::move(script)] {
      for (int nth = 0;; ++nth) {
        const int fd = ::accept(fd_, nullptr, nullptr);
        if (fd < 0) return;
        RawPeer peer(fd);
        script(peer, nth);
      }
    });
  }
  ~ScriptedServer() {
    ::shutdown(fd_, SHUT_RDWR);
    thread_.join();
    ::close(fd_);
  }

  std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
  }

 private:
  int fd_;
  uint16_t port_ = 0;
  std::thread thread_;
};

// A server of ours that runs until it is stopped or goes out of scope.
class RunningServer {
 public:
  explicit RunningServer(Handler handler, ServerOptions options = {}) {
    options.port = 0;
    HandlerFactory factory = [handler = std::move(handler)](boost::asio::io_context&, int) { return handler; };
    auto server = Server::listen(std::move(options), std::move(factory), metrics);
    CHECK(server.has_value(), server.error().message.c_str());
    server_ = *std::move(server);
    thread_ = std::thread([this] { server_->run(); });
  }
  ~RunningServer() { stop(); }

  void shutdown() { server_->shutdown(); }
  void stop() {
    shutdown();
    if (thread_.joinable()) thread_.join();
  }
  RawPeer connect() const { return RawPeer::connect(port()); }
  uint16_t port() const { return server_->port(); }
  std::string url(std::string_view path) const {
    return "http://127.0.0.1:" + std::to_string(port()) + std::string(path);
  }
  int64_t rejected(const std::string& reason) {
    return metrics
        .counter("hengshi_http_rejected_total", "Requests refused before any handler saw them", {{"reason", reason}})
        .value();
  }

  Metrics metrics;

 private:
  std::unique_ptr<Server> server_;
  std::thread thread_;
};

// Runs a task to its end on a loop.
inline void run_on(boost::asio::io_context& loop, Task<void> task) {
  boost::asio::co_spawn(loop.get_executor(), std::move(task),
                        [](const std::exception_ptr& error) { CHECK(!error, "a test's task does not throw"); });
  loop.restart();
  loop.run();
}

}  // namespace hengshi::io
