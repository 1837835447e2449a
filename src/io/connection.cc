#include "io/connection.h"

#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/system/system_error.hpp>
#include <optional>
#include <utility>

#include "base/check.h"
#include "io/output.h"
#include "io/pace.h"
#include "io/read_buffer.h"
#include "io/request_parser.h"
#include "io/waiter.h"

namespace hengshi::io {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using TlsStream = asio::ssl::stream<TcpSocket>;

constexpr size_t kReadLimit = size_t{64} << 10;  // of one read, and of what is read ahead of a handler
constexpr Header kJson[] = {{"Content-Type", "application/json"}};
constexpr auto kTuple = asio::as_tuple(kAwait);

enum class Answer : uint8_t { kNone, kStreaming, kDone };

// Stream is a TcpSocket or a TlsStream over one.
template <typename Stream>
class StreamConnection final : public Connection, public Exchange {
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

 public:
  StreamConnection(LoopShared& loop, Stream stream, std::string peer, bool refused)
      : loop_(loop),
        stream_(std::move(stream)),
        parser_(request_, loop.options.header_limit, loop.options.body_limit),
        in_(std::max(loop.options.header_limit, kReadLimit)),
        waiter_(stream_.get_executor()),
        refused_(refused),
        pace_(loop, kTls ? Phase::kHandshake : Phase::kIdle) {
    request_.peer = std::move(peer);
  }

  Task<void> serve() override {
    // A cancelled handler ends by the results of what it awaits, not by an exception.
    co_await asio::this_coro::throw_if_cancelled(false);
    if (co_await handshake()) {
      if (refused_) {
        Error full{ErrorCode::kOverloaded, "The server has too many connections.", {}, "overloaded", 1};
        co_await refuse(std::move(full));
      } else {
        while (co_await receive()) {
          if (!co_await handle()) break;
        }
      }
    }
    co_await finish();
  }

  void sweep() override {
    switch (pace_.overdue()) {
      case Overdue::kNo: return;
      case Overdue::kClose: return close();
      case Overdue::kTell: {
        timed_out_ = true;
        error_code ignored;
        socket().cancel(ignored);
      }
    }
  }

  void close_if_idle() override {
    if (pace_.is(Phase::kIdle)) close();
  }

  void cut() override {
    close();
    cancel.emit(asio::cancellation_type::terminal);
    tell_gone();
  }

  HttpRequest& request() override { return request_; }

  Task<bool> send(int status, std::span<const Header> headers, std::string_view body) override {
    CHECK(answer_ == Answer::kNone, "an exchange is answered once");
    answer_ = Answer::kDone;
    write_head(status, headers, {.body = Framing::Body::kLength, .length = body.size()});
    if (!bodiless(status) && !is_head()) out_.text() += body;
    if (send_now()) co_return !out_.failed();
    co_return co_await send_rest();
  }

  Task<bool> begin_stream(int status, std::span<const Header> headers) override {
    CHECK(answer_ == Answer::kNone, "an exchange is answered once");
    answer_ = Answer::kStreaming;
    chunked_ = parser_.http_1_1();
    if (!chunked_) keep_alive_ = false;
    write_head(status, headers, {.body = chunked_ ? Framing::Body::kChunked : Framing::Body::kUntilClose});
    stream_has_body_ = !bodiless(status) && !is_head();
    if (send_now()) co_return !out_.failed();
    co_return co_await send_rest();
  }

  Task<bool> write(std::string_view bytes) override {
    CHECK(answer_ == Answer::kStreaming, "write() belongs between begin_stream() and end_stream()");
    if (bytes.empty() || !stream_has_body_) co_return !out_.failed();
    out_.begin();
    if (chunked_) {
      out_.append_chunk(bytes);
    } else {
      out_.text() += bytes;
    }
    if (send_now()) co_return !out_.failed();
    co_return co_await send_rest();
  }

  Task<void> end_stream(bool clean) override {
    const bool hang_up = answer_ == Answer::kNone && !clean;
    if (answer_ != Answer::kStreaming && !hang_up) co_return;
    answer_ = Answer::kDone;
    if (!clean) {
      keep_alive_ = false;
      cut_stream_ = true;
      co_return;
    }
    if (!chunked_ || !stream_has_body_) co_return;
    out_.begin();
    out_.text() = "0\r\n\r\n";
    if (!send_now()) co_await send_rest();
  }

  void watch_client(std::function<void()> gone) override {
    gone_ = std::move(gone);
    if (client_left_) {
      // Never from inside the caller: it is not waiting yet.
      asio::post(stream_.get_executor(), [this] { tell_gone(); });
      return;
    }
    read_ahead();
  }

 private:
  TcpSocket& socket() {
    if constexpr (kTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  void close() {
    pace_.enter(Phase::kClosed);
    error_code ignored;
    // Where the end of the connection is the end of the answer, a reset tells that it came too early.
    if (answer_ == Answer::kStreaming && !chunked_) socket().set_option(asio::socket_base::linger(true, 0), ignored);
    socket().close(ignored);
  }

  Task<bool> handshake() {
    if constexpr (kTls) {
      const auto [ec] = co_await stream_.async_handshake(TlsStream::server, kTuple);
      if (ec) co_return false;
    }
    co_return true;
  }

  // Reads one whole request. False: there is none, and what there was to say to that has been said.
  Task<bool> receive() {
    parser_.reset();
    in_.shrink();
    pace_.enter(Phase::kIdle);
    bool continued = false;
    for (;;) {
      if (!in_.empty()) {
        const auto taken = parser_.feed(in_.view());
        if (!taken) {
          co_await refuse(taken.error());
          co_return false;
        }
        in_.consume(*taken);
        if (parser_.done()) co_return true;
        if (pace_.is(Phase::kIdle) && parser_.started()) pace_.enter(Phase::kHead);
        if (pace_.is(Phase::kHead) && parser_.head_done()) pace_.enter(Phase::kBody);
        if (parser_.head_done() && parser_.expects_continue() && !std::exchange(continued, true) && in_.empty() &&
            request_.body.empty()) {
          if (!co_await send_continue()) co_return false;
          pace_.enter(Phase::kBody);
        }
      }
      if (loop_.draining && !parser_.started() && in_.empty()) co_return false;
      if (!co_await fill()) co_return false;
    }
  }

  // Waits for more bytes.
  Task<bool> fill() {
    if (reading_) {
      while (reading_) co_await waiter_.wait();
    } else if (!client_left_) {
      const auto room = in_.prepare();
      if (room.empty()) {
        Error flood{ErrorCode::kHeadersTooLarge, "A chunk's extensions or trailers are too long.", {}, "invalid_http"};
        co_await refuse(std::move(flood));
        co_return false;
      }
      const auto [ec, n] = co_await stream_.async_read_some(asio::buffer(room.data(), room.size()), kTuple);
      in_.commit(n);
      if (ec && !timed_out_) client_left_ = true;
    }
    if (timed_out_) {
      const char* what =
          pace_.is(Phase::kHead) ? "The request's head took too long." : "The request's body took too long.";
      Error slow{ErrorCode::kRequestTimeout, what, {}, "request_timeout"};
      co_await refuse(std::move(slow));
      co_return false;
    }
    co_return !client_left_;
  }

  // Keeps a read open while the handler works: it finds out that the client has left, and costs nothing otherwise,
  // because the next request is read by the same operation.
  void read_ahead() {
    if (reading_ || client_left_) return;
    const auto room = in_.prepare();
    if (room.empty()) return;  // A flood of pipelined requests; its end is seen when it has been answered.
    reading_ = true;
    stream_.async_read_some(asio::buffer(room.data(), room.size()), [this](const error_code& ec, size_t n) {
      reading_ = false;
      in_.commit(n);
      if (ec && !timed_out_) client_left_ = true;
      if (client_left_) {
        tell_gone();
      } else if (gone_) {
        read_ahead();
      }
      waiter_.wake();
    });
  }

  void tell_gone() {
    if (const auto gone = std::exchange(gone_, nullptr)) gone();
  }

  // False: the connection ends here.
  Task<bool> handle() {
    pace_.enter(Phase::kHandling);
    answer_ = Answer::kNone;
    keep_alive_ = parser_.keep_alive();
    try {
      co_await loop_.handler(*this);
    } catch (const boost::system::system_error& error) {
      CHECK(loop_.cut && error.code() == asio::error::operation_aborted, error.what());
    } catch (const std::exception& error) {
      CHECK(false, error.what());
    }
    gone_ = nullptr;
    if (answer_ == Answer::kStreaming) cut_stream_ = true;
    if (answer_ == Answer::kNone && !pace_.is(Phase::kClosed) && !client_left_) {
      const Error unanswered{ErrorCode::kInternal, "The request was not answered.", {}, "internal"};
      const std::string body = error_body(unanswered);
      co_await send(500, kJson, body);
    }
    co_return keep_alive_ && !cut_stream_ && !out_.failed() && !pace_.is(Phase::kClosed);
  }

  bool is_head() const { return request_.method == "HEAD"; }

  void write_head(int status, std::span<const Header> headers, Framing framing) {
    out_.begin();
    if (loop_.draining || client_left_) keep_alive_ = false;
    framing.keep_alive = keep_alive_;
    framing.http_1_1 = parser_.http_1_1();
    loop_.heads.append(out_.text(), status, headers, framing);
  }

  // True when it is sent, or cannot be.
  bool send_now() {
    if (pace_.is(Phase::kClosed)) out_.give_up();
    return out_.send_now(stream_);
  }

  Task<bool> send_rest() {
    const Phase before = pace_.phase();
    while (!out_.done()) {
      pace_.enter(Phase::kWriting);
      co_await out_.send_some(stream_);
    }
    pace_.enter(before);
    out_.shrink();
    co_return !out_.failed();
  }

  Task<bool> send_continue() {
    out_.begin();
    out_.text() = "HTTP/1.1 100 Continue\r\n\r\n";
    if (send_now()) co_return !out_.failed();
    co_return co_await send_rest();
  }

  // Answers without the handler, and closes once the client could read it.
  Task<void> refuse(Error error) {
    loop_.rejections.of(error.code).add();
    const std::string id = make_request_id();
    const std::string retry_after = std::to_string(error.retry_after_s);
    const std::string body = error_body(error);
    std::vector<Header> headers = {{"Content-Type", "application/json"}, {"X-Request-Id", id}};
    if (error.retry_after_s > 0) headers.emplace_back("Retry-After", retry_after);
    out_.begin();
    loop_.heads.append(out_.text(), http_status(error.code), headers, {.length = body.size(), .keep_alive = false});
    if (!parser_.head_done() || !is_head()) out_.text() += body;
    pace_.enter(Phase::kHandling);
    if (!send_now()) co_await send_rest();
    unread_input_ = true;
  }

  Task<void> finish() {
    if (!pace_.is(Phase::kClosed) && !out_.failed() && !client_left_ && !cut_stream_) {
      pace_.enter(Phase::kLinger);
      if constexpr (kTls) {
        if (!reading_) co_await stream_.async_shutdown(kTuple);  // sends close_notify
      }
      if ((unread_input_ || !in_.empty()) && !reading_) co_await linger();
    }
    close();
    while (reading_) co_await waiter_.wait();
  }

  // Closing with input unread resets the connection and takes the answer away from the client: read it off first.
  Task<void> linger() {
    error_code ignored;
    socket().shutdown(TcpSocket::shutdown_send, ignored);
    const Monotonic until = loop_.now + loop_.options.body_timeout;
    std::array<char, 4096> waste;
    while (!pace_.is(Phase::kClosed) && loop_.now < until) {
      const auto [ec, n] = co_await socket().async_read_some(asio::buffer(waste), kTuple);
      if (ec) break;
      pace_.enter(Phase::kLinger);
    }
  }

  LoopShared& loop_;
  Stream stream_;
  HttpRequest request_;
  RequestParser parser_;
  ReadBuffer in_;
  Output<Stream> out_;
  std::function<void()> gone_;
  Waiter waiter_;  // for the read that read_ahead() began
  const bool refused_;
  Pace pace_;
  Answer answer_ = Answer::kNone;
  bool keep_alive_ = true;
  bool chunked_ = false;
  bool stream_has_body_ = true;
  bool reading_ = false;
  bool client_left_ = false;  // no more bytes will come
  bool timed_out_ = false;
  bool cut_stream_ = false;
  bool unread_input_ = false;
};

}  // namespace

std::unique_ptr<Connection> make_connection(LoopShared& loop, Admission admission) {
  if (admission.tls == nullptr) {
    return std::make_unique<StreamConnection<TcpSocket>>(loop, std::move(admission.socket), std::move(admission.peer),
                                                         admission.refused);
  }
  TlsStream stream(std::move(admission.socket), *admission.tls);
  return std::make_unique<StreamConnection<TlsStream>>(loop, std::move(stream), std::move(admission.peer),
                                                       admission.refused);
}

}  // namespace hengshi::io
