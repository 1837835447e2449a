// test_gateway.h — for the tests of this room: a gateway without a network, and an exchange that keeps what was sent.
#pragma once

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/test_folder.h"
#include "gateway/worker.h"

namespace hengshi::gateway {

// Keeps what would have gone onto the wire.
class RecordedExchange final : public io::Exchange {
 public:
  io::HttpRequest& request() override { return asked; }
  io::Task<bool> send(int code, std::span<const io::Header> head, std::string_view bytes) override {
    take(code, head);
    body = bytes;
    co_return true;
  }
  io::Task<bool> begin_stream(int code, std::span<const io::Header> head) override {
    take(code, head);
    co_return true;
  }
  io::Task<bool> write(std::string_view bytes) override {
    body += bytes;
    co_return true;
  }
  io::Task<void> end_stream(bool whole) override {
    clean = whole;
    co_return;
  }
  void watch_client(std::function<void()> leave) override { gone = std::move(leave); }

  io::HttpRequest asked;
  int status = 0;
  bool clean = false;
  std::map<std::string, std::string, std::less<>> headers;
  std::string body;
  std::function<void()> gone;  // to be called when the client should have left

 private:
  void take(int code, std::span<const io::Header> head) {
    status = code;
    for (const auto& [name, value] : head) headers[std::string(name)] = value;
  }
};

// A gateway without a network: rules and caches are real, there is no upstream.
class TestGateway : public ::testing::Test {
 protected:
  TestGateway() {
    auto route = std::make_shared<Route>();
    route->name = "default";
    route->models = {"hengshi"};
    route_ = route;
    auto snapshot = std::make_shared<Snapshot>();
    snapshot->routes = {route};
    snapshot->access_log = false;
    snapshot->by_model["hengshi"] = route;
    snapshot->rules = *rules::RuleSet::parse(R"(
[[rule]]
name = "hello"
patterns = ["^hello$"]
answer.en = "Hello there."
[[rule]]
name = "order"
patterns = ["^where is order (?P<order_id>[A-Z]{2}[0-9]{8})$"]
answer.en = "Looking up {order_id}."
)",
                                             "rules.toml");
    snapshot_ = snapshot;
    snapshots_ = std::make_unique<Snapshots>(snapshot);
    cache_ = *cache::Cache::open({}, clock_, metrics_);
    ledger_ = *ledger::Ledger::open({path_}, metrics_);
    shared_ = std::make_unique<Shared>(
        Shared{*snapshots_, *cache_, *ledger_, pool_, limits_, metrics_, clock_, {}, draining_});
    worker_ = std::make_unique<Worker>(*shared_, loop_);
  }
  ~TestGateway() override {
    worker_.reset();
    ledger_.reset();
  }

  std::unique_ptr<RecordedExchange> post(std::string_view body, const std::map<std::string, std::string>& headers = {},
                                         const std::string& target = "/v1/chat/completions") {
    auto exchange = begin(body, headers, target);
    loop_.restart();
    loop_.run();
    return exchange;
  }
  // Is answered once the loop runs.
  std::unique_ptr<RecordedExchange> begin(std::string_view body, const std::map<std::string, std::string>& headers = {},
                                          const std::string& target = "/v1/chat/completions") {
    auto exchange = std::make_unique<RecordedExchange>();
    exchange->asked.method = body.empty() ? "GET" : "POST";
    exchange->asked.target = target;
    exchange->asked.body = body;
    for (const auto& [name, value] : headers) exchange->asked.headers.emplace_back(name, value);
    boost::asio::co_spawn(loop_, worker_->handle(*exchange), boost::asio::detached);
    return exchange;
  }
  std::vector<ledger::Record> records() {
    ledger_->flush();
    return ledger::tail(path_, 0, 100)->records;
  }
  static std::string ask(std::string_view question, std::string_view more = "") {
    std::string body = R"({"model":"hengshi","messages":[{"role":"user","content":")";
    body += question;
    body += "\"}]";
    body += more;
    body += "}";
    return body;
  }

  const TempFolder folder_;
  const std::string path_ = folder_ / "ledger.db";
  boost::asio::io_context loop_{1};
  ManualClock clock_;
  Metrics metrics_;
  Limits limits_{clock_};
  io::ComputePool pool_{1, 8};
  std::atomic<bool> draining_ = false;
  std::shared_ptr<Route> route_;
  std::shared_ptr<Snapshot> snapshot_;
  std::unique_ptr<Snapshots> snapshots_;
  std::unique_ptr<cache::Cache> cache_;
  std::unique_ptr<ledger::Ledger> ledger_;
  std::unique_ptr<Shared> shared_;
  std::unique_ptr<Worker> worker_;
};

}  // namespace hengshi::gateway
