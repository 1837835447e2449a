#include "io/server.h"

#include <openssl/ssl.h>

#include <algorithm>
#include <thread>

#include "io/header_name.h"
#include "io/loop.h"

namespace hengshi::io {

namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

Result<std::unique_ptr<ssl::context>> load_tls(const ServerOptions& options) {
  std::unique_ptr<ssl::context> tls;
  if (options.tls_cert.empty() && options.tls_key.empty()) return tls;
  if (options.tls_cert.empty() || options.tls_key.empty()) {
    return fail(ErrorCode::kInvalidRequest, "TLS needs both a certificate and a key.",
                options.tls_cert.empty() ? "tls_cert" : "tls_key");
  }
  tls = std::make_unique<ssl::context>(ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(tls->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_mode(tls->native_handle(), SSL_MODE_RELEASE_BUFFERS);
  error_code ec;
  tls->use_certificate_chain_file(options.tls_cert, ec);
  if (ec) return fail(ErrorCode::kInvalidRequest, options.tls_cert + ": " + ec.message(), "tls_cert");
  tls->use_private_key_file(options.tls_key, ssl::context::pem, ec);
  if (ec) return fail(ErrorCode::kInvalidRequest, options.tls_key + ": " + ec.message(), "tls_key");
  if (SSL_CTX_check_private_key(tls->native_handle()) != 1) {
    return fail(ErrorCode::kInvalidRequest, options.tls_key + ": is not the key of " + options.tls_cert, "tls_key");
  }
  return tls;
}

class LoopServer final : public Server {
 public:
  LoopServer(ServerOptions options, HandlerFactory factory, Metrics& metrics) : shared_(std::move(options), metrics) {
    shared_.factory = std::move(factory);
  }

  Result<void> open() {
    TRY(shared_.tls, load_tls(shared_.options));
    port_ = shared_.options.port;
    for (int i = 0; i < std::max(shared_.options.threads, 1); ++i) {
      loops_.push_back(std::make_unique<Loop>(shared_, i));
      TRY(port_, loops_.back()->listen(port_));
    }
    return {};
  }

  uint16_t port() const override { return port_; }

  void run() override {
    std::vector<std::thread> threads;
    threads.reserve(loops_.size());
    for (const auto& loop : loops_) threads.emplace_back([&loop] { loop->run(); });
    for (auto& thread : threads) thread.join();
  }

  void shutdown() override {
    for (const auto& loop : loops_) loop->begin_drain();
  }

 private:
  ServerShared shared_;
  uint16_t port_ = 0;
  std::vector<std::unique_ptr<Loop>> loops_;
};

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (equal_names(key, name)) return value;
  }
  return {};
}

Result<std::unique_ptr<Server>> Server::listen(ServerOptions options, HandlerFactory factory, Metrics& metrics) {
  auto server = std::make_unique<LoopServer>(std::move(options), std::move(factory), metrics);
  TRY_OK(server->open());
  return server;
}

}  // namespace hengshi::io
