// test_http_client.h — for the HTTP client's tests: a client on a loop of its own, and what every call needs.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>

#include "io/http_client.h"
#include "io/loopback.h"

namespace hengshi::io {

inline constexpr Header kText[] = {{"Content-Type", "text/plain"}};

class HttpClientTest : public testing::Test {
 protected:
  HttpClientTest() {
    for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"}) unsetenv(name);
    client_ = HttpClient::make(loop_);
  }

  template <typename F>
  void run(F&& body) {
    const auto task = [&]() -> Task<void> {
      co_await body();
      client_.reset();  // What it keeps open would keep the loop running.
    };
    run_on(loop_, task());
  }

  boost::asio::io_context loop_{1};
  std::unique_ptr<HttpClient> client_;
};

inline ClientRequest get(std::string url) {
  ClientRequest request;
  request.method = "GET";
  request.url = std::move(url);
  return request;
}

inline Deadline soon() { return Deadline::after(std::chrono::seconds(10)); }

// The whole body, or the error that ended it.
inline Task<Result<std::string>> read_all(ClientResponse& response) {
  std::string all;
  for (;;) {
    CO_TRY(const std::string bytes, co_await response.read(soon()));
    if (bytes.empty()) co_return all;
    all += bytes;
  }
}

template <typename T>
ErrorCode code_of(const Result<T>& result) {
  EXPECT_FALSE(result.has_value());
  return result ? ErrorCode::kInternal : result.error().code;
}

}  // namespace hengshi::io
