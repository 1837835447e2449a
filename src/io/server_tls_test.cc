#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <filesystem>
#include <future>
#include <string>

#include "base/test_folder.h"
#include "io/loopback.h"
#include "io/server.h"
#include "io/waiter.h"

namespace hengshi::io {
namespace {

constexpr Header kText[] = {{"Content-Type", "text/plain"}};

// A self-signed certificate for "localhost" and its key, in a folder of the test's own.
class Certificate {
 public:
  Certificate() {
    EVP_PKEY* key = EVP_EC_gen("P-256");
    X509* cert = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(cert), -60);
    X509_gmtime_adj(X509_getm_notAfter(cert), 3600);
    X509_set_pubkey(cert, key);
    X509_NAME* name = X509_get_subject_name(cert);
    X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("localhost"), -1, -1,
                               0);
    X509_set_issuer_name(cert, name);
    X509_sign(cert, key, EVP_sha256());
    FILE* file = std::fopen(cert_file().c_str(), "w");
    PEM_write_X509(file, cert);
    std::fclose(file);
    file = std::fopen(key_file().c_str(), "w");
    PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
    std::fclose(file);
    X509_free(cert);
    EVP_PKEY_free(key);
  }
  std::string cert_file() const { return folder_ / "cert.pem"; }
  std::string key_file() const { return folder_ / "key.pem"; }

 private:
  TempFolder folder_;
};

class TlsClient {
 public:
  explicit TlsClient(uint16_t port, int max_version = TLS1_3_VERSION) : peer_(RawPeer::connect(port)) {
    context_ = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_security_level(context_, 0);
    SSL_CTX_set_min_proto_version(context_, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context_, max_version);
    ssl_ = SSL_new(context_);
    SSL_set_fd(ssl_, peer_.fd());
    connected_ = SSL_connect(ssl_) == 1;
  }
  ~TlsClient() {
    SSL_free(ssl_);
    SSL_CTX_free(context_);
  }
  TlsClient(const TlsClient&) = delete;
  TlsClient& operator=(const TlsClient&) = delete;

  bool connected() const { return connected_; }
  void send(std::string_view bytes) { SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size())); }
  // Up to `mark`, or to the end.
  std::string read_until(std::string_view mark) {
    std::string got;
    char byte;
    while (!got.ends_with(mark) && SSL_read(ssl_, &byte, 1) == 1) got += byte;
    return got;
  }
  void close_notify() { SSL_shutdown(ssl_); }
  void close_socket() { peer_.close(); }

 private:
  RawPeer peer_;
  SSL_CTX* context_;
  SSL* ssl_;
  bool connected_;
};

Task<void> echo(Exchange& exchange) {
  const std::string body = exchange.request().target + " " + exchange.request().body;
  co_await exchange.send(200, kText, body);
}

TEST(ServerTls, RoundTripsAndKeepsAlive) {
  const Certificate certificate;
  RunningServer server(echo, {.tls_cert = certificate.cert_file(), .tls_key = certificate.key_file()});
  TlsClient client(server.port());
  ASSERT_TRUE(client.connected());
  client.send("POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\nbody");
  EXPECT_TRUE(client.read_until("/1 body").ends_with("\r\n\r\n/1 body"));
  client.send("GET /2 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
  EXPECT_TRUE(client.read_until("never").ends_with("\r\n\r\n/2 "));
}

TEST(ServerTls, AnswersATooLargeBody) {
  const Certificate certificate;
  RunningServer server(echo,
                       {.body_limit = 1000, .tls_cert = certificate.cert_file(), .tls_key = certificate.key_file()});
  TlsClient client(server.port());
  ASSERT_TRUE(client.connected());
  client.send("POST /1 HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n" + std::string(100'000, 'x'));
  EXPECT_TRUE(client.read_until("never").starts_with("HTTP/1.1 413 "));
}

TEST(ServerTls, SpeaksNothingOlderThanTls12) {
  const Certificate certificate;
  RunningServer server(echo, {.tls_cert = certificate.cert_file(), .tls_key = certificate.key_file()});
  EXPECT_FALSE(TlsClient(server.port(), TLS1_1_VERSION).connected());
  EXPECT_TRUE(TlsClient(server.port(), TLS1_2_VERSION).connected());
}

TEST(ServerTls, NoticesThatTheClientHasLeft) {
  const Certificate certificate;
  for (const bool politely : {true, false}) {
    std::promise<void> waiting;
    std::promise<void> gone;
    Handler handler = [&](Exchange& exchange) -> Task<void> {
      const auto executor = co_await boost::asio::this_coro::executor;
      Waiter left(executor);
      std::function<void()> on_gone = [&] {
        gone.set_value();
        left.wake();
      };
      exchange.watch_client(std::move(on_gone));
      co_await exchange.begin_stream(200, kText);
      co_await exchange.write("token");
      waiting.set_value();
      co_await left.wait();
      co_await exchange.end_stream(false);
    };
    RunningServer server(handler, {.tls_cert = certificate.cert_file(), .tls_key = certificate.key_file()});
    TlsClient client(server.port());
    client.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n");
    waiting.get_future().wait();
    if (politely) {
      client.close_notify();
    } else {
      client.close_socket();
    }
    gone.get_future().wait();
  }
}

TEST(ServerTls, SaysWhatIsWrongWithTheFiles) {
  const Certificate certificate;
  const Certificate* const other = &certificate;
  Metrics metrics;
  HandlerFactory factory = [](boost::asio::io_context&, int) -> Handler { return echo; };
  const auto half = Server::listen({.port = 0, .tls_cert = certificate.cert_file()}, factory, metrics);
  ASSERT_FALSE(half);
  EXPECT_EQ(half.error().param, "tls_key");
  const auto missing =
      Server::listen({.port = 0, .tls_cert = "/nowhere.pem", .tls_key = other->key_file()}, factory, metrics);
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().message.find("/nowhere.pem"), std::string::npos);
}

}  // namespace
}  // namespace hengshi::io
