// output.h — bytes on their way out of a connection, one piece after the other.
//
// Errors:  failed() once a write has failed; what comes after it is dropped.
// Threads: one loop.
#pragma once

#include <sys/socket.h>

#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include "io/connection.h"

namespace hengshi::io {

// Stream is a TcpSocket, or a TLS stream over one.
template <typename Stream>
class Output {
 public:
  // A new piece: nothing is left of the one before.
  void begin() {
    text_.clear();
    sent_ = 0;
  }
  std::string& text() { return text_; }
  void append_chunk(std::string_view bytes) {
    std::array<char, 20> hex;
    const int n = std::snprintf(hex.data(), hex.size(), "%zx\r\n", bytes.size());
    text_.append(hex.data(), static_cast<size_t>(n));
    text_ += bytes;
    text_ += "\r\n";
  }

  bool failed() const { return failed_; }
  void give_up() { failed_ = true; }
  bool done() const { return failed_ || sent_ == text_.size(); }

  // Tries to be done without waiting, which almost always works; not for TLS, whose records must leave whole.
  bool send_now(Stream& stream) {
    if (failed_) return true;
    if constexpr (std::is_same_v<Stream, TcpSocket>) {
      const ssize_t n = ::send(stream.native_handle(), text_.data(), text_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (n > 0) sent_ = static_cast<size_t>(n);
      if (n < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) failed_ = true;
      return done();
    } else {
      return false;
    }
  }

  Task<void> send_some(Stream& stream) {
    const auto [ec, n] = co_await stream.async_write_some(
        boost::asio::buffer(text_.data() + sent_, text_.size() - sent_), boost::asio::as_tuple(kAwait));
    sent_ += n;
    if (ec) failed_ = true;
  }

  // Gives a large buffer back.
  void shrink() {
    begin();
    if (text_.capacity() > kKept) std::string().swap(text_);
  }

 private:
  static constexpr size_t kKept = size_t{64} << 10;

  std::string text_;
  size_t sent_ = 0;
  bool failed_ = false;
};

}  // namespace hengshi::io
