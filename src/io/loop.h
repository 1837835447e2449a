// loop.h — one thread's share of a server: its listening socket, its connections, their timeouts and their drain.
//
// Threads: open(), run() once; begin_drain() from any thread; the rest on the loop's own.
#pragma once

#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <list>
#include <memory>
#include <mutex>

#include "base/metrics.h"
#include "io/connection.h"
#include "io/server.h"
#include "io/waiter.h"

namespace hengshi::io {

// What the loops of one server have in common.
struct ServerShared {
  ServerShared(ServerOptions with_options, Metrics& metrics);

  const ServerOptions options;
  HandlerFactory factory;
  std::unique_ptr<boost::asio::ssl::context> tls;  // null: plain
  Rejections rejections;
  Gauge& connections;
  std::atomic<size_t> open = 0;
};

class Loop {
 public:
  Loop(ServerShared& shared, int index);
  ~Loop();

  // Binds to `port`, which several loops do; answers the port.
  Result<uint16_t> listen(uint16_t port);
  // On a thread of its own, until drained.
  void run();
  void begin_drain();

 private:
  // Asio keeps this to its own contexts: whatever waits is destroyed while all that it refers to is still there.
  struct Context : boost::asio::io_context {
    Context() : boost::asio::io_context(1) {}
    void destroy_waiting() { shutdown(); }
  };
  using Connections = std::list<std::unique_ptr<Connection>>;

  void accept();
  void admit(TcpSocket socket, const boost::asio::ip::tcp::endpoint& peer);
  void retire(Connections::iterator connection);
  void schedule_sweep();
  void sweep();
  void drain();

  ServerShared& server_;
  const int index_;
  Context context_;
  LoopShared shared_;
  boost::asio::basic_socket_acceptor<boost::asio::ip::tcp, Executor> acceptor_;
  Timer sweep_timer_;
  Connections connections_;
  Monotonic drain_until_ = Monotonic::max();
  bool accepting_ = false;
  std::mutex ended_mutex_;  // Asio's own shutdown takes no post beside it.
  bool ended_ = false;
};

}  // namespace hengshi::io
