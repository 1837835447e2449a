#include "io/loop.h"

#include <pthread.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <string>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace hengshi::io {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

constexpr std::chrono::milliseconds kLongestSweep{250};
constexpr std::chrono::milliseconds kShortestSweep{5};
constexpr std::chrono::seconds kCutGrace{1};  // for handlers to end by themselves once cancelled
constexpr size_t kRefusedAtOnce = 1'024;      // connections beyond the limit that still get their 503

std::chrono::nanoseconds sweep_period(const ServerOptions& o) {
  const auto shortest = std::min({o.header_timeout, o.body_timeout, o.idle_timeout, o.write_timeout, o.drain_timeout});
  return std::clamp(shortest / 4, kShortestSweep, kLongestSweep);
}

}  // namespace

ServerShared::ServerShared(ServerOptions with_options, Metrics& metrics)
    : options(std::move(with_options)),
      rejections(metrics),
      connections(metrics.gauge("hengshi_http_connections", "Open client connections")) {}

Loop::Loop(ServerShared& shared, int index)
    : server_(shared),
      index_(index),
      shared_{.options = shared.options,
              .rejections = shared.rejections,
              .handler = {},
              .heads = {},
              .sweep_period = sweep_period(shared.options),
              .now = std::chrono::steady_clock::now()},
      acceptor_(context_.get_executor()),
      sweep_timer_(context_.get_executor()) {}

Loop::~Loop() = default;

Result<uint16_t> Loop::listen(uint16_t port) {
  const ServerOptions& options = server_.options;
  const std::string where = options.address + ":" + std::to_string(port);
  error_code ec;
  const auto address = asio::ip::make_address(options.address, ec);
  if (ec) return fail(ErrorCode::kInvalidRequest, where + ": " + ec.message(), "address");
  const tcp::endpoint endpoint(address, port);
  const auto step = [&](auto&& doing) {
    if (!ec) doing();
  };
  step([&] { acceptor_.open(endpoint.protocol(), ec); });
  step([&] { acceptor_.set_option(tcp::acceptor::reuse_address(true), ec); });
  // Two servers on one port would share its clients in silence: the first of ours must have the port to itself.
  if (index_ == 0 && port != 0) {
    step([&] { acceptor_.bind(endpoint, ec); });
    step([&] { acceptor_.listen(1, ec); });
    step([&] { acceptor_.close(ec); });
    step([&] { acceptor_.open(endpoint.protocol(), ec); });
    step([&] { acceptor_.set_option(tcp::acceptor::reuse_address(true), ec); });
  }
  const asio::detail::socket_option::boolean<SOL_SOCKET, SO_REUSEPORT> reuse_port(true);
  step([&] { acceptor_.set_option(reuse_port, ec); });
  step([&] { acceptor_.set_option(tcp::no_delay(true), ec); });  // Inherited by what is accepted.
  step([&] { acceptor_.bind(endpoint, ec); });
  step([&] { acceptor_.listen(tcp::acceptor::max_listen_connections, ec); });
  tcp::endpoint bound;
  step([&] { bound = acceptor_.local_endpoint(ec); });
  if (ec) return fail(ErrorCode::kInternal, "Cannot listen on " + where + ": " + ec.message() + ".", "port");
  return bound.port();
}

void Loop::run() {
  pthread_setname_np(pthread_self(), ("io-" + std::to_string(index_)).c_str());
  shared_.handler = server_.factory(context_, index_);
  shared_.heads.refresh(std::chrono::system_clock::now());
  shared_.now = std::chrono::steady_clock::now();
  accept();
  schedule_sweep();
  context_.run();
  {
    const std::lock_guard lock(ended_mutex_);
    ended_ = true;
  }
  // What is left did not heed its cancellation. The handler's owner and the connections outlive its frames.
  context_.destroy_waiting();
  server_.connections.add(-static_cast<int64_t>(connections_.size()));
  connections_.clear();
  shared_.handler = nullptr;
}

void Loop::begin_drain() {
  const std::lock_guard lock(ended_mutex_);
  if (!ended_) asio::post(context_, [this] { drain(); });
}

void Loop::accept() {
  accepting_ = true;
  auto peer = std::make_shared<tcp::endpoint>();
  acceptor_.async_accept(*peer, [this, peer](const error_code& ec, TcpSocket socket) {
    accepting_ = false;
    if (shared_.draining) return;
    if (ec) {  // Out of descriptors, most likely: the next sweep tries again.
      if (ec != asio::error::connection_aborted) log(LogLevel::kWarn, "accept_failed", {{"why", ec.message()}});
      return;
    }
    admit(std::move(socket), *peer);
    accept();
  });
}

void Loop::admit(TcpSocket socket, const tcp::endpoint& peer) {
  const size_t open = ++server_.open;
  const size_t limit = server_.options.max_connections;
  if (open > limit) {
    if (open > limit + kRefusedAtOnce) {
      --server_.open;
      server_.rejections.overloaded.add();
      return;
    }
  }
  server_.connections.add(1);
  auto connection = connections_.insert(connections_.end(), nullptr);
  *connection = make_connection(shared_, {.socket = std::move(socket),
                                          .peer = peer.address().to_string(),
                                          .refused = open > limit,
                                          .tls = server_.tls.get()});
  auto ended = [this, connection](const std::exception_ptr& error) {
    CHECK(!error, "a connection does not throw");
    // Not here: the coroutine that ends is still on the stack.
    asio::post(context_, [this, connection] { retire(connection); });
  };
  asio::co_spawn(context_.get_executor(), (*connection)->serve(),
                 asio::bind_cancellation_slot((*connection)->cancel.slot(), std::move(ended)));
}

void Loop::retire(Connections::iterator connection) {
  connections_.erase(connection);
  --server_.open;
  server_.connections.add(-1);
  if (shared_.draining && connections_.empty()) context_.stop();
}

void Loop::schedule_sweep() {
  sweep_timer_.expires_after(shared_.sweep_period);
  sweep_timer_.async_wait([this](const error_code& ec) {
    if (ec) return;
    sweep();
    schedule_sweep();
  });
}

void Loop::sweep() {
  shared_.now = std::chrono::steady_clock::now();
  shared_.heads.refresh(std::chrono::system_clock::now());
  for (const auto& connection : connections_) connection->sweep();
  if (!accepting_ && !shared_.draining) accept();
  if (shared_.now < drain_until_) return;
  shared_.cut = true;
  for (const auto& connection : connections_) connection->cut();
  if (shared_.now >= drain_until_ + kCutGrace) context_.stop();
}

void Loop::drain() {
  if (std::exchange(shared_.draining, true)) return;
  drain_until_ = std::chrono::steady_clock::now() + server_.options.drain_timeout;
  error_code ignored;
  acceptor_.close(ignored);
  for (const auto& connection : connections_) connection->close_if_idle();
  if (connections_.empty()) context_.stop();
}

}  // namespace hengshi::io
