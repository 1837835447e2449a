#include "gateway/pipeline.h"

#include <gtest/gtest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <map>

#include "gateway/stored.h"

namespace hengshi::gateway {
namespace {

// Keeps what would have gone onto the wire.
class RecordedExchange final : public io::Exchange {
 public:
  io::HttpRequest& request() override { return request_; }
  io::Task<bool> send(int status, std::span<const io::Header> headers, std::string_view body) override {
    take(status, headers);
    body_ = body;
    co_return true;
  }
  io::Task<bool> begin_stream(int status, std::span<const io::Header> headers) override {
    take(status, headers);
    co_return true;
  }
  io::Task<bool> write(std::string_view bytes) override {
    body_ += bytes;
    co_return true;
  }
  io::Task<void> end_stream(bool clean) override {
    clean_ = clean;
    co_return;
  }
  void watch_client(std::function<void()>) override {}

  io::HttpRequest request_{};
  int status_ = 0;
  bool clean_ = false;
  std::map<std::string, std::string, std::less<>> headers_;
  std::string body_;

 private:
  void take(int status, std::span<const io::Header> headers) {
    status_ = status;
    for (const auto& [name, value] : headers) headers_[std::string(name)] = value;
  }
};

// A gateway without a network: rules and caches are real, there is no upstream.
class Pipeline : public ::testing::Test {
 protected:
  Pipeline() {
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
    ledger_ = *ledger::Ledger::open(path_.string(), metrics_);
    shared_ = std::make_unique<Shared>(
        Shared{*snapshots_, *cache_, *ledger_, pool_, limits_, metrics_, clock_, {}, draining_});
    worker_ = std::make_unique<Worker>(*shared_, loop_);
  }
  ~Pipeline() override {
    worker_.reset();
    ledger_.reset();
    std::filesystem::remove_all(path_.parent_path());
  }

  std::unique_ptr<RecordedExchange> post(std::string_view body, std::map<std::string, std::string> headers = {},
                                         const std::string& target = "/v1/chat/completions") {
    auto exchange = std::make_unique<RecordedExchange>();
    exchange->request_.method = body.empty() ? "GET" : "POST";
    exchange->request_.target = target;
    exchange->request_.body = body;
    for (const auto& [name, value] : headers) exchange->request_.headers.emplace_back(name, value);
    boost::asio::co_spawn(loop_, worker_->handle(*exchange), boost::asio::detached);
    loop_.restart();
    loop_.run();
    return exchange;
  }
  std::vector<ledger::Record> records() {
    ledger_->flush();
    return ledger::tail(path_.string(), 0, 100)->records;
  }
  static std::string ask(std::string_view question, std::string_view more = "") {
    std::string body = R"({"model":"hengshi","messages":[{"role":"user","content":")";
    body += question;
    body += "\"}]";
    body += more;
    body += "}";
    return body;
  }

  std::filesystem::path path_ = [] {
    std::string folder = (std::filesystem::temp_directory_path() / "hengshi-pipeline-XXXXXX").string();
    return std::filesystem::path(mkdtemp(folder.data())) / "ledger.db";
  }();
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

TEST_F(Pipeline, ARuleAnswersAndSaysSo) {
  const auto x = post(ask("hello"));
  EXPECT_EQ(x->status_, 200);
  EXPECT_EQ(x->headers_["x-hengshi-path"], "rule");
  EXPECT_EQ(x->headers_["x-hengshi-model"], "rule/hello");
  EXPECT_TRUE(x->headers_.contains("x-request-id"));
  EXPECT_NE(x->body_.find("Hello there."), std::string::npos);
  EXPECT_NE(x->body_.find(R"("path":"rule")"), std::string::npos);
  ASSERT_EQ(records().size(), 1U);
  EXPECT_EQ(records()[0].path, "rule");
  EXPECT_EQ(records()[0].question, "");
}

TEST_F(Pipeline, AStreamedRuleEndsOnce) {
  const auto x = post(ask("where is order AB12345678", R"(,"stream":true)"));
  EXPECT_EQ(x->headers_["content-type"], "text/event-stream; charset=utf-8");
  EXPECT_TRUE(x->clean_);
  EXPECT_NE(x->body_.find("AB12345678"), std::string::npos);
  EXPECT_TRUE(x->body_.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(x->body_.find("[DONE]"), x->body_.rfind("[DONE]"));
}

TEST_F(Pipeline, FieldsARuleCannotHonourKeepItOut) {
  EXPECT_EQ(post(ask("hello", R"(,"tools":[{"type":"function","function":{"name":"f"}}])"))->headers_["x-hengshi-path"],
            "unanswered");
  EXPECT_EQ(post(ask("hello", R"(,"max_tokens":1)"))->headers_["x-hengshi-path"], "unanswered");
  EXPECT_EQ(post(ask("hello", R"(,"stop":["there"])"))->headers_["x-hengshi-path"], "unanswered");
  EXPECT_EQ(post(ask("hello", R"(,"max_tokens":100)"))->headers_["x-hengshi-path"], "rule");
}

TEST_F(Pipeline, WithoutAnyoneItApologisesInTheQuestionsLanguage) {
  const auto x = post(ask("路由器为什么是方的"));
  EXPECT_EQ(x->status_, 200);
  EXPECT_EQ(x->headers_["x-hengshi-path"], "unanswered");
  EXPECT_EQ(x->headers_["x-hengshi-degraded"], "no_upstream");
  EXPECT_NE(x->body_.find("抱歉"), std::string::npos);
  EXPECT_NE(x->body_.find(R"("answered":false)"), std::string::npos);
}

TEST_F(Pipeline, ARouteMayPrefer503) {
  route_->on_exhausted = OnExhausted::kUnavailable;
  const auto x = post(ask("why are routers square"));
  EXPECT_EQ(x->status_, 503);
  EXPECT_TRUE(x->headers_.contains("retry-after"));
  EXPECT_EQ(records()[0].status, 503);
}

TEST_F(Pipeline, AStoredAnswerServesTheSameRequestOnly) {
  auto parsed = api::parse_chat(ask("why are routers square"));
  ASSERT_TRUE(parsed);
  // Scope: tenant "default" and key "anonymous", as admission writes them.
  std::string identity = "7:defaultkey9:anonymous";
  identity.append(reinterpret_cast<const char*>(parsed->fingerprint.data()), parsed->fingerprint.size());
  identity += parsed->question;
  const auto answer = api::text_completion("gpt-x", "Because shelves are.", {.prompt = 5, .completion = 4});
  cache_->insert(
      {.id = digest(identity),
       .model = "gpt-x",
       .payload = encode_stored(answer),
       .created_s = std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count()},
      {});
  cache_->flush();
  clock_.advance(std::chrono::seconds(7));
  const auto hit = post(ask("why are routers square"));
  EXPECT_EQ(hit->headers_["x-hengshi-path"], "cache.exact");
  EXPECT_EQ(hit->headers_["x-hengshi-cache-age"], "7");
  EXPECT_NE(hit->body_.find("Because shelves are."), std::string::npos);
  EXPECT_NE(hit->body_.find(R"("saved":{"tokens":9})"), std::string::npos);
  EXPECT_EQ(post(ask("why are routers square", R"(,"temperature":0.5)"))->headers_["x-hengshi-path"], "unanswered");
  EXPECT_EQ(post(ask("why are routers square", R"(,"user":"u2")"))->headers_["x-hengshi-path"], "unanswered");
  EXPECT_EQ(post(ask("why are routers square"), {{"x-hengshi-cache", "bypass"}})->headers_["x-hengshi-path"],
            "unanswered");
  EXPECT_EQ(post(ask("why are routers square"), {{"cache-control", "no-cache"}})->headers_["x-hengshi-path"],
            "unanswered");
}

TEST_F(Pipeline, KeysAndLimitsFailClosed) {
  auto locked = std::make_shared<Snapshot>(*snapshot_);
  locked->keys.add(sha256_hex("hs-1"), {.name = "one", .tenant = "acme", .requests_per_minute = 1});
  snapshots_->swap(locked);
  EXPECT_EQ(post(ask("hello"))->status_, 401);
  EXPECT_EQ(post(ask("hello"), {{"authorization", "Bearer hs-2"}})->status_, 401);
  EXPECT_EQ(post("", {}, "/v1/models")->status_, 401);
  const auto first = post(ask("hello"), {{"authorization", "Bearer hs-1"}});
  EXPECT_EQ(first->status_, 200);
  EXPECT_EQ(first->headers_["x-ratelimit-limit-requests"], "1");
  const auto second = post(ask("hello"), {{"authorization", "Bearer hs-1"}});
  EXPECT_EQ(second->status_, 429);
  EXPECT_EQ(second->headers_["retry-after"], "60");
}

// What a static route says holds in full, not only its upstreams: here 503 instead of the first route's apology.
TEST_F(Pipeline, AStaticRouteIsTakenWhole) {
  auto strict = std::make_shared<Route>();
  strict->name = "strict";
  strict->on_exhausted = OnExhausted::kUnavailable;
  auto snapshot = std::make_shared<Snapshot>(*snapshot_);
  snapshot->routes.push_back(strict);
  snapshot->rules = *rules::RuleSet::parse(
      "[[rule]]\nname = \"code\"\npatterns = ['^write code']\nroute = \"strict\"\n", "rules.toml");
  snapshots_->swap(snapshot);
  EXPECT_EQ(post(ask("write code for me"))->status_, 503);
  EXPECT_EQ(post(ask("write a poem"))->status_, 200);
  EXPECT_EQ(records()[0].route, "strict");
  EXPECT_EQ(records()[1].route, "default");
}

TEST_F(Pipeline, AFrontEndsUserHeaderIsBelievedBeforeTheBody) {
  auto keyed = std::make_shared<Snapshot>(*snapshot_);
  keyed->keys.add(sha256_hex("hs-1"), {.name = "one", .tenant = "acme", .user_header = "x-user"});
  snapshots_->swap(keyed);
  auto parsed = api::parse_chat(ask("why are routers square"));
  std::string identity = "4:acmeuser3:ann";
  identity.append(reinterpret_cast<const char*>(parsed->fingerprint.data()), parsed->fingerprint.size());
  identity += parsed->question;
  cache_->insert({.id = digest(identity), .payload = encode_stored(api::text_completion("m", "For Ann.", {}))}, {});
  const auto as = [&](const std::string& header, std::string_view body_user) {
    std::map<std::string, std::string> headers = {{"authorization", "Bearer hs-1"}};
    if (!header.empty()) headers["x-user"] = header;
    std::string more = R"(,"user":")";
    more += body_user;
    more += '"';
    return post(ask("why are routers square", more), headers)->headers_["x-hengshi-path"];
  };
  EXPECT_EQ(as("ann", "bob"), "cache.exact");
  EXPECT_EQ(as("bob", "ann"), "unanswered");
  EXPECT_EQ(as("", "ann"), "cache.exact");
}

TEST_F(Pipeline, BadRequestsNameTheFault) {
  const auto missing = post(R"({"model":"hengshi"})");
  EXPECT_EQ(missing->status_, 400);
  EXPECT_NE(missing->body_.find(R"("param":"messages")"), std::string::npos);
  const auto model = post(R"({"model":"nope","messages":[{"role":"user","content":"x"}]})");
  EXPECT_EQ(model->status_, 404);
  EXPECT_NE(model->body_.find("model_not_found"), std::string::npos);
  EXPECT_EQ(post(ask("hello"), {{"x-hengshi-deadline-ms", "soon"}})->status_, 400);
  EXPECT_EQ(post(ask("hello"), {{"content-type", "text/plain"}})->status_, 415);
  EXPECT_EQ(post(ask("hello"), {}, "/v1/nothing")->status_, 404);
  EXPECT_EQ(post("", {}, "/v1/chat/completions")->status_, 405);
}

TEST_F(Pipeline, ARequestIdIsEchoedWhenItIsHarmless) {
  EXPECT_EQ(post(ask("hello"), {{"x-request-id", "abc-1"}})->headers_["x-request-id"], "abc-1");
  EXPECT_TRUE(post(ask("hello"), {{"x-request-id", "a b"}})->headers_["x-request-id"].starts_with("req-"));
  EXPECT_TRUE(
      post(ask("hello"), {{"x-request-id", std::string(200, 'a')}})->headers_["x-request-id"].starts_with("req-"));
}

TEST_F(Pipeline, HealthReadinessModelsAndMetrics) {
  EXPECT_NE(post("", {}, "/healthz")->body_.find(R"("product":"hengshi")"), std::string::npos);
  EXPECT_EQ(post("", {}, "/readyz")->status_, 200);
  draining_ = true;
  EXPECT_EQ(post("", {}, "/readyz")->status_, 503);
  EXPECT_NE(post("", {}, "/v1/models")->body_.find(R"("id":"hengshi")"), std::string::npos);
  EXPECT_EQ(post("", {}, "/v1/models/hengshi")->status_, 200);
  EXPECT_EQ(post("", {}, "/v1/models/other")->status_, 404);
  post(ask("hello"));
  EXPECT_NE(post("", {}, "/metrics")->body_.find(R"(hengshi_requests_total{tenant="default",path="rule"} 1)"),
            std::string::npos);
}

}  // namespace
}  // namespace hengshi::gateway
