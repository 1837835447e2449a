// request_parser.h — an HTTP/1.1 request from bytes, one after the other into the same HttpRequest.
//
// Units:   limits in bytes; the header limit counts the request line too, the body limit what chunks carry.
// Errors:  kInvalidRequest, kHeadersTooLarge, kTooLarge. After one the connection's bytes mean nothing any more.
// Threads: one parser per connection.
// Source:  RFC 9112. Beast is seen in request_parser.cc only, because it costs half a minute to compile.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "io/server.h"

namespace hengshi::io {

class RequestParser {
 public:
  RequestParser(HttpRequest& into, size_t header_limit, size_t body_limit);
  ~RequestParser();

  // Makes ready for the next request. The storage of `into` is kept, so that a keep-alive connection does not allocate.
  void reset();
  // Reads from the front of `bytes` and answers how many are done with; show the rest again, with more behind it.
  Result<size_t> feed(std::string_view bytes);

  bool started() const;  // false while nothing but empty lines has come
  bool head_done() const;
  bool done() const;
  // From here on valid when head_done().
  bool keep_alive() const;
  bool http_1_1() const;
  bool expects_continue() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hengshi::io
