// connection.h — one client's connection: reads requests, hands them to the handler, writes the answers.
//
// Errors:  what a connection refuses by itself is answered as the API's errors are, and counted.
// Threads: one loop.
#pragma once

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "io/rejections.h"
#include "io/response_head.h"
#include "io/server.h"

namespace hengshi::io {

using TcpSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;

// What the connections of one loop have in common.
struct LoopShared {
  const ServerOptions& options;
  Rejections& rejections;
  Handler handler;
  HeadWriter heads;
  std::chrono::nanoseconds sweep_period;
  Monotonic now;          // as of the last sweep: precise enough for timeouts, and no clock is read per request
  bool draining = false;  // answers say Connection: close
  bool cut = false;       // the drain's time is up: handlers end by cancellation
};

class Connection {
 public:
  virtual ~Connection() = default;
  // Ends when the connection is closed and nothing refers to it any more.
  virtual Task<void> serve() = 0;
  // Enforces the timeouts.
  virtual void sweep() = 0;
  virtual void close_if_idle() = 0;
  // Closes at once and cancels the handler; may be repeated while it has not ended.
  virtual void cut() = 0;

  boost::asio::cancellation_signal cancel;  // for who spawns serve()
};

// A refused connection gets one 503. With `tls` it speaks TLS first.
struct Admission {
  TcpSocket socket;
  std::string peer;
  bool refused = false;
  boost::asio::ssl::context* tls = nullptr;
};
std::unique_ptr<Connection> make_connection(LoopShared& loop, Admission admission);

}  // namespace hengshi::io
