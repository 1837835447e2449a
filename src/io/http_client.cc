#include "io/http_client.h"

#include <curl/curl.h>

#include <cstring>
#include <utility>

#include "io/curl_loop.h"
#include "io/header_name.h"

namespace hengshi::io {

namespace {

// Of a URL, without who logs in there.
std::string host_of(std::string_view url) {
  const size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  const size_t at = url.rfind('@');
  if (at != std::string_view::npos) url.remove_prefix(at + 1);
  return std::string(url);
}

Result<curl_slist*> header_list(const ClientRequest& request) {
  curl_slist* list = nullptr;
  const auto add = [&list](const std::string& line) {
    if (curl_slist* longer = curl_slist_append(list, line.c_str())) list = longer;
  };
  bool names_encoding = false;
  bool names_type = false;
  for (const auto& [name, value] : request.headers) {
    std::string line = name;
    line += value.empty() ? ";" : ": ";  // Curl's spelling of an empty header.
    line += value;
    if (line.find_first_of(std::string_view("\r\n\0", 3)) != std::string::npos) {
      curl_slist_free_all(list);
      return fail(ErrorCode::kInvalidRequest, "A header holds a line break.");
    }
    names_encoding = names_encoding || equal_names(name, "accept-encoding");
    names_type = names_type || equal_names(name, "content-type");
    add(line);
  }
  add("Expect:");  // A body is worth sending before being asked for: the round trip costs more.
  if (!names_encoding) add("Accept-Encoding: identity");
  if (!names_type) add("Content-Type:");
  return list;
}

Error failure(const Transfer& transfer) {
  const std::string& host = transfer.host;
  const auto upstream = [&](const std::string& fault) { return Error{ErrorCode::kUpstream, host + ": " + fault}; };
  if (transfer.result == CURLE_ABORTED_BY_CALLBACK) return {ErrorCode::kCancelled, host + ": the call was given up"};
  if (transfer.head_done) {
    return upstream("the connection was cut after " + std::to_string(transfer.received) + " bytes");
  }
  switch (transfer.result) {
    case CURLE_COULDNT_RESOLVE_HOST: return upstream("the name does not resolve");
    case CURLE_COULDNT_RESOLVE_PROXY: return upstream("the proxy's name does not resolve");
    case CURLE_OPERATION_TIMEDOUT:
      return upstream("no connection within " + std::to_string(transfer.request.connect_timeout.count()) + " ms");
    case CURLE_COULDNT_CONNECT:
      if (transfer.os_error == 0) break;
      return upstream(std::string("cannot connect: ") + std::strerror(static_cast<int>(transfer.os_error)));
    case CURLE_PEER_FAILED_VERIFICATION:
      return upstream("its certificate is not trusted; [[upstream]] ca_file names the authority that signed it");
    case CURLE_SSL_CACERT_BADFILE: return upstream("ca_file cannot be read as PEM certificates");
    case CURLE_GOT_NOTHING:
    case CURLE_RECV_ERROR:
    case CURLE_SEND_ERROR: return upstream("the connection was cut before an answer");
    default: break;
  }
  return upstream(curl_easy_strerror(transfer.result));
}

Error too_late(const Transfer& transfer) {
  return {ErrorCode::kDeadline,
          transfer.host + (transfer.head_done ? ": the answer stopped coming in time" : ": no answer in time")};
}

Error given_up(const Transfer& transfer) { return {ErrorCode::kCancelled, transfer.host + ": the call was given up"}; }

// Owns what it is given: the response may be destroyed while this waits.
Task<Result<std::string>> read_more(std::shared_ptr<Transfer> transfer, Deadline deadline) {
  for (;;) {
    if (!transfer->buffer.empty()) {
      std::string bytes = std::exchange(transfer->buffer, {});
      transfer->loop->resume(*transfer);
      co_return bytes;
    }
    if (transfer->abandoned) co_return tl::unexpected(given_up(*transfer));
    if (transfer->finished) {
      if (transfer->result == CURLE_OK) co_return std::string();
      co_return tl::unexpected(failure(*transfer));
    }
    if (deadline.passed()) co_return tl::unexpected(too_late(*transfer));
    if (co_await transfer->waiter.wait(deadline.at()) == Woken::kCancelled) {
      co_return tl::unexpected(given_up(*transfer));
    }
  }
}

class CurlResponse final : public ClientResponse {
 public:
  explicit CurlResponse(std::shared_ptr<Transfer> transfer) : transfer_(std::move(transfer)) {}
  ~CurlResponse() override {
    transfer_->abandoned = true;
    transfer_->loop->remove(*transfer_);
    transfer_->waiter.wake();
  }

  int status() const override { return transfer_->status; }

  std::string_view header(std::string_view name) const override {
    for (const auto& [key, value] : transfer_->headers) {
      if (equal_names(key, name)) return value;
    }
    return {};
  }

  Task<Result<std::string>> read(Deadline deadline) override { return read_more(transfer_, deadline); }

 private:
  std::shared_ptr<Transfer> transfer_;
};

class CurlClient final : public HttpClient {
 public:
  explicit CurlClient(boost::asio::io_context& loop) : loop_(std::make_shared<CurlLoop>(loop)) {}
  ~CurlClient() override { loop_->close(); }

  Task<Result<std::unique_ptr<ClientResponse>>> open(ClientRequest request, Deadline deadline) override {
    const auto transfer = std::make_shared<Transfer>(loop_, loop_->executor());
    transfer->request = std::move(request);
    transfer->host = host_of(transfer->request.url);
    CO_TRY(transfer->request_headers, header_list(transfer->request));
    if (!loop_->start(*transfer)) {
      co_return fail(ErrorCode::kUpstream, transfer->host + ": no request can be made of this URL or proxy");
    }
    while (!transfer->head_done) {
      if (transfer->finished) co_return tl::unexpected(failure(*transfer));
      if (deadline.passed()) co_return tl::unexpected(too_late(*transfer));
      if (co_await transfer->waiter.wait(deadline.at()) == Woken::kCancelled) {
        co_return tl::unexpected(given_up(*transfer));
      }
    }
    co_return std::make_unique<CurlResponse>(transfer);
  }

 private:
  const std::shared_ptr<CurlLoop> loop_;
};

}  // namespace

std::unique_ptr<HttpClient> HttpClient::make(boost::asio::io_context& loop) {
  return std::make_unique<CurlClient>(loop);
}

}  // namespace hengshi::io
