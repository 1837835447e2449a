#include "io/response_head.h"

#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <ctime>

#include "base/log.h"

namespace hengshi::io {

namespace {

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Content";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 499: return "Client Closed Request";
    case 500: return "Internal Server Error";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Status";
  }
}

void append_number(std::string& out, uint64_t number) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), static_cast<size_t>(end - digits.data()));
}

// Whoever made the value, it must not be able to start a header of its own.
void append_clean(std::string& out, std::string_view text) {
  const size_t from = out.size();
  out += text;
  for (size_t i = from; i < out.size(); ++i) {
    if (out[i] == '\r' || out[i] == '\n' || out[i] == '\0') out[i] = ' ';
  }
}

}  // namespace

void HeadWriter::refresh(Wall now) {
  const std::time_t second = std::chrono::system_clock::to_time_t(now);
  if (second == second_) return;
  second_ = second;
  std::tm utc;
  gmtime_r(&second, &utc);
  std::array<char, 40> date;  // Names are spelled out: strftime's follow the locale.
  constexpr const char* kDays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::snprintf(date.data(), date.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays[utc.tm_wday % 7],
                utc.tm_mday % 32, kMonths[utc.tm_mon % 12], (utc.tm_year + 1900) % 10'000, utc.tm_hour % 24,
                utc.tm_min % 60, utc.tm_sec % 61);
  fixed_ = "Server: hengshi\r\nDate: ";
  fixed_ += date.data();
  fixed_ += "\r\n";
}

void HeadWriter::append(std::string& out, int status, std::span<const Header> headers, const Framing& framing) const {
  out += "HTTP/1.1 ";
  append_number(out, static_cast<uint64_t>(status));
  out += ' ';
  out += reason_phrase(status);
  out += "\r\n";
  out += fixed_;
  for (const auto& [name, value] : headers) {
    append_clean(out, name);
    out += ": ";
    append_clean(out, value);
    out += "\r\n";
  }
  if (!bodiless(status)) {
    if (framing.body == Framing::Body::kLength) {
      out += "Content-Length: ";
      append_number(out, framing.length);
      out += "\r\n";
    } else if (framing.body == Framing::Body::kChunked) {
      out += "Transfer-Encoding: chunked\r\n";
    }
  }
  if (!framing.keep_alive) {
    out += "Connection: close\r\n";
  } else if (!framing.http_1_1) {
    out += "Connection: keep-alive\r\n";
  }
  out += "\r\n";
}

std::string error_body(const Error& error) {
  std::string out = "{\"error\":{\"message\":";
  append_json_string(out, error.message);
  out += ",\"type\":";
  append_json_string(out, openai_error_type(error.code));
  out += ",\"param\":null,\"code\":";
  append_json_string(out, error.reason);
  out += "}}";
  return out;
}

std::string make_request_id() {
  std::array<unsigned char, 8> random = {};
  RAND_bytes(random.data(), static_cast<int>(random.size()));
  std::string id = "req-";
  for (const unsigned char byte : random) {
    constexpr char kDigits[] = "0123456789abcdef";
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

}  // namespace hengshi::io
