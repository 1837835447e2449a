#include "io/request_parser.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <boost/beast/http/error.hpp>
#include <cstdint>

#include "io/header_name.h"

namespace hengshi::io {

namespace {

namespace http = boost::beast::http;
using boost::beast::error_code;
using boost::beast::iequals;

constexpr size_t kMaxFields = 256;
constexpr size_t kBodyReserve = size_t{64} << 10;  // A length is a claim: memory comes with the bytes.
constexpr int kMaxEmptyLines = 8;                  // before a request line; some clients send one after a body

// True for "http://host/path?query", as a client writes it to a proxy; then only its path and query are left in `target`.
bool cut_origin(std::string_view& target) {
  const size_t scheme = target.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view name = target.substr(0, scheme);
  if (!equal_names(name, "http") && !equal_names(name, "https")) return false;
  target.remove_prefix(scheme + 3);
  target.remove_prefix(std::min(target.find_first_of("/?"), target.size()));
  return true;
}

// Writes over the fields of the request before, so that equal requests reuse the same strings.
class Reader final : public http::basic_parser<true> {
 public:
  Reader(HttpRequest& into, size_t header_limit, size_t body_limit) : into_(&into) {
    eager(true);
    this->header_limit(static_cast<uint32_t>(std::min<size_t>(header_limit, UINT32_MAX)));
    this->body_limit(body_limit);
  }

  bool head_done() const { return head_done_; }
  bool http_1_1() const { return version_ == 11; }
  bool expects_continue() const { return expects_continue_ && http_1_1(); }

 private:
  void on_request_impl(http::verb, boost::beast::string_view method, boost::beast::string_view target, int version,
                       error_code&) override {
    into_->method.assign(method.data(), method.size());
    std::string_view asked(target.data(), target.size());
    into_->target.clear();
    if (cut_origin(asked) && !asked.starts_with('/')) into_->target = "/";
    into_->target += asked;
    version_ = version;
  }

  void on_field_impl(http::field field, boost::beast::string_view name, boost::beast::string_view value,
                     error_code& ec) override {
    if (head_done_) return;  // A trailer is no header: it comes too late to be trusted.
    if (fields_ == kMaxFields) {
      ec = http::error::header_limit;
      return;
    }
    if (field == http::field::host) ++hosts_;
    if (field == http::field::expect) expects_continue_ = iequals(value, "100-continue");
    // Beast takes a coding it does not know for no body at all, which is how requests are smuggled.
    if (field == http::field::transfer_encoding && (!http_1_1() || !iequals(value, "chunked"))) {
      ec = http::error::bad_transfer_encoding;
      return;
    }
    if (fields_ == into_->headers.size()) into_->headers.emplace_back();
    auto& header = into_->headers[fields_++];
    header.first.assign(name.data(), name.size());
    header.second.assign(value.data(), value.size());
  }

  void on_header_impl(error_code& ec) override {
    into_->headers.resize(fields_);
    head_done_ = true;
    if (hosts_ > 1 || (hosts_ == 0 && http_1_1())) ec = http::error::bad_field;
  }

  void on_body_init_impl(const boost::optional<uint64_t>& length, error_code&) override {
    if (length) into_->body.reserve(static_cast<size_t>(std::min<uint64_t>(*length, kBodyReserve)));
  }

  size_t on_body_impl(boost::beast::string_view bytes, error_code&) override {
    into_->body.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  size_t on_chunk_body_impl(uint64_t, boost::beast::string_view bytes, error_code&) override {
    into_->body.append(bytes.data(), bytes.size());
    return bytes.size();
  }

  void on_response_impl(int, boost::beast::string_view, int, error_code&) override {}
  void on_chunk_header_impl(uint64_t, boost::beast::string_view, error_code&) override {}
  void on_finish_impl(error_code&) override {}

  HttpRequest* into_;
  size_t fields_ = 0;
  int hosts_ = 0;
  int version_ = 0;
  bool head_done_ = false;
  bool expects_continue_ = false;
};

tl::unexpected<Error> refusal(const error_code& ec, size_t header_limit, size_t body_limit) {
  if (ec == http::error::body_limit) {
    return fail(ErrorCode::kTooLarge, "The request body is larger than " + std::to_string(body_limit) + " bytes.", {},
                "body_too_large");
  }
  if (ec == http::error::header_limit) {
    return fail(ErrorCode::kHeadersTooLarge,
                "The request head is larger than " + std::to_string(header_limit) + " bytes or has more than " +
                    std::to_string(kMaxFields) + " fields.",
                {}, "headers_too_large");
  }
  return fail(ErrorCode::kInvalidRequest, "The bytes are no HTTP/1.1 request: " + ec.message() + ".", {},
              "invalid_http");
}

}  // namespace

struct RequestParser::State {
  HttpRequest& into;
  size_t header_limit;
  size_t body_limit;
  size_t head_bytes = 0;
  int empty_lines = 0;
  Reader reader;

  // How many bytes of empty lines stand before the request line; it may begin in the next bytes.
  Result<size_t> skip_empty_lines(std::string_view bytes) {
    size_t skipped = 0;
    while (bytes.substr(skipped).starts_with("\r\n")) {
      if (++empty_lines > kMaxEmptyLines) {
        return fail(ErrorCode::kInvalidRequest, "The bytes are no HTTP/1.1 request: nothing but empty lines.", {},
                    "invalid_http");
      }
      skipped += 2;
    }
    return skipped;
  }
};

RequestParser::RequestParser(HttpRequest& into, size_t header_limit, size_t body_limit)
    : state_(new State{into, header_limit, body_limit, 0, 0, Reader(into, header_limit, body_limit)}) {
  reset();
}

RequestParser::~RequestParser() = default;

void RequestParser::reset() {
  State& s = *state_;
  s.head_bytes = 0;
  s.empty_lines = 0;
  s.reader = Reader(s.into, s.header_limit, s.body_limit);
  if (s.into.body.capacity() > kBodyReserve) std::string().swap(s.into.body);
  s.into.body.clear();
}

Result<size_t> RequestParser::feed(std::string_view bytes) {
  State& s = *state_;
  size_t skipped = 0;
  if (!started()) {
    TRY(skipped, s.skip_empty_lines(bytes));
    bytes.remove_prefix(skipped);
    if (bytes.empty() || bytes == "\r") return skipped;
  }
  error_code ec;
  const size_t taken = s.reader.put(boost::asio::const_buffer(bytes.data(), bytes.size()), ec);
  if (ec && ec != http::error::need_more) return refusal(ec, s.header_limit, s.body_limit);
  if (!head_done()) {
    // Beast limits what it looks at in one go, not the sum.
    s.head_bytes += taken;
    if (s.head_bytes + (bytes.size() - taken) > s.header_limit) {
      return refusal(http::error::header_limit, s.header_limit, s.body_limit);
    }
  }
  return skipped + taken;
}

bool RequestParser::started() const { return state_->reader.got_some(); }
bool RequestParser::head_done() const { return state_->reader.head_done(); }
bool RequestParser::done() const { return state_->reader.is_done(); }
bool RequestParser::keep_alive() const { return state_->reader.keep_alive(); }
bool RequestParser::http_1_1() const { return state_->reader.http_1_1(); }
bool RequestParser::expects_continue() const { return state_->reader.expects_continue(); }

}  // namespace hengshi::io
