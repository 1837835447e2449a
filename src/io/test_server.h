// test_server.h — for the server's tests: a handler that echoes, and requests as text.
#pragma once

#include <string>
#include <string_view>

#include "io/loopback.h"

namespace hengshi::io {

inline constexpr Header kText[] = {{"Content-Type", "text/plain"}};

// Answers with what it was asked.
inline Task<void> echo(Exchange& exchange) {
  const HttpRequest& request = exchange.request();
  const std::string body = request.method + " " + request.target + " " + request.body;
  co_await exchange.send(200, kText, body);
}

inline std::string get(std::string_view path, std::string_view more = "") {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: h\r\n" + std::string(more) + "\r\n";
}

inline std::string post(std::string_view body, std::string_view more = "") {
  return "POST /p HTTP/1.1\r\nHost: h\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" + std::string(more) +
         "\r\n" + std::string(body);
}

inline bool ends_with(const std::string& text, std::string_view end) { return std::string_view(text).ends_with(end); }

}  // namespace hengshi::io
