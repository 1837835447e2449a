#include "gateway/pipeline.h"

#include <gtest/gtest.h>

#include "gateway/stored.h"
#include "gateway/test_gateway.h"

namespace hengshi::gateway {
namespace {

class Pipeline : public TestGateway {};

TEST_F(Pipeline, ARuleAnswersAndSaysSo) {
  const auto x = post(ask("hello"));
  EXPECT_EQ(x->status, 200);
  EXPECT_EQ(x->headers["x-hengshi-path"], "rule");
  EXPECT_EQ(x->headers["x-hengshi-model"], "rule/hello");
  EXPECT_TRUE(x->headers.contains("x-request-id"));
  EXPECT_NE(x->body.find("Hello there."), std::string::npos);
  EXPECT_NE(x->body.find(R"("path":"rule")"), std::string::npos);
  ASSERT_EQ(records().size(), 1U);
  EXPECT_EQ(records()[0].path, "rule");
  EXPECT_EQ(records()[0].question, "");
}

TEST_F(Pipeline, AStreamedRuleEndsOnce) {
  const auto x = post(ask("where is order AB12345678", R"(,"stream":true)"));
  EXPECT_EQ(x->headers["content-type"], "text/event-stream; charset=utf-8");
  EXPECT_TRUE(x->clean);
  EXPECT_NE(x->body.find("AB12345678"), std::string::npos);
  EXPECT_TRUE(x->body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(x->body.find("[DONE]"), x->body.rfind("[DONE]"));
}

TEST_F(Pipeline, FieldsARuleCannotHonourKeepItOut) {
  EXPECT_EQ(post(ask("hello", R"(,"tools":[{"type":"function","function":{"name":"f"}}])"))->headers["x-hengshi-path"],
            "unanswered");
  EXPECT_EQ(post(ask("hello", R"(,"max_tokens":1)"))->headers["x-hengshi-path"], "unanswered");
  EXPECT_EQ(post(ask("hello", R"(,"stop":["there"])"))->headers["x-hengshi-path"], "unanswered");
  EXPECT_EQ(post(ask("hello", R"(,"max_tokens":100)"))->headers["x-hengshi-path"], "rule");
}

TEST_F(Pipeline, WithoutAnyoneItApologisesInTheQuestionsLanguage) {
  const auto x = post(ask("路由器为什么是方的"));
  EXPECT_EQ(x->status, 200);
  EXPECT_EQ(x->headers["x-hengshi-path"], "unanswered");
  EXPECT_EQ(x->headers["x-hengshi-degraded"], "no_upstream");
  EXPECT_NE(x->body.find("抱歉"), std::string::npos);
  EXPECT_NE(x->body.find(R"("answered":false)"), std::string::npos);
}

TEST_F(Pipeline, ARouteMayPrefer503) {
  route_->on_exhausted = OnExhausted::kUnavailable;
  const auto x = post(ask("why are routers square"));
  EXPECT_EQ(x->status, 503);
  EXPECT_TRUE(x->headers.contains("retry-after"));
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
  EXPECT_EQ(hit->headers["x-hengshi-path"], "cache.exact");
  EXPECT_EQ(hit->headers["x-hengshi-cache-age"], "7");
  EXPECT_NE(hit->body.find("Because shelves are."), std::string::npos);
  EXPECT_NE(hit->body.find(R"("saved":{"tokens":9})"), std::string::npos);
  EXPECT_EQ(post(ask("why are routers square", R"(,"temperature":0.5)"))->headers["x-hengshi-path"], "unanswered");
  EXPECT_EQ(post(ask("why are routers square", R"(,"user":"u2")"))->headers["x-hengshi-path"], "unanswered");
  EXPECT_EQ(post(ask("why are routers square"), {{"x-hengshi-cache", "bypass"}})->headers["x-hengshi-path"],
            "unanswered");
  EXPECT_EQ(post(ask("why are routers square"), {{"cache-control", "no-cache"}})->headers["x-hengshi-path"],
            "unanswered");
}

TEST_F(Pipeline, KeysAndLimitsFailClosed) {
  auto locked = std::make_shared<Snapshot>(*snapshot_);
  locked->keys.add(sha256_hex("hs-1"), {.name = "one", .tenant = "acme", .requests_per_minute = 1});
  snapshots_->swap(locked);
  EXPECT_EQ(post(ask("hello"))->status, 401);
  EXPECT_EQ(post(ask("hello"), {{"authorization", "Bearer hs-2"}})->status, 401);
  EXPECT_EQ(post("", {}, "/v1/models")->status, 401);
  const auto first = post(ask("hello"), {{"authorization", "Bearer hs-1"}});
  EXPECT_EQ(first->status, 200);
  EXPECT_EQ(first->headers["x-ratelimit-limit-requests"], "1");
  const auto second = post(ask("hello"), {{"authorization", "Bearer hs-1"}});
  EXPECT_EQ(second->status, 429);
  EXPECT_EQ(second->headers["retry-after"], "60");
  const auto metrics = post("", {}, "/metrics")->body;
  EXPECT_NE(metrics.find(R"(hengshi_requests_total{tenant="unknown",path="error"} 3)"), std::string::npos) << metrics;
  EXPECT_EQ(metrics.find(R"(tenant="")"), std::string::npos) << metrics;
}

TEST_F(Pipeline, TheMetricsHaveAKeyOfTheirOwn) {
  auto locked = std::make_shared<Snapshot>(*snapshot_);
  locked->keys.add(sha256_hex("hs-1"), {.name = "one", .tenant = "acme"});
  snapshots_->swap(locked);
  shared_->settings.metrics_key = digest("figures");
  for (const std::string given : {"", "Bearer hs-1", "Bearer", "Bearer ", "Basic figures", "figures"}) {
    const auto refused = post("", {{"authorization", given}}, "/metrics");
    EXPECT_EQ(refused->status, 401) << given;
    EXPECT_EQ(refused->body.find("hengshi_requests_total"), std::string::npos);
  }
  const auto told = post("", {{"authorization", "bearer figures"}}, "/metrics");
  EXPECT_EQ(told->status, 200);
  EXPECT_NE(told->body.find("hengshi_requests_total"), std::string::npos);
  EXPECT_EQ(post(ask("hello"), {{"authorization", "Bearer figures"}})->status, 401);
}

TEST_F(Pipeline, TheAccessLogsNumbersAreNumbers) {
  auto logged = std::make_shared<Snapshot>(*snapshot_);
  logged->access_log = true;
  snapshots_->swap(logged);
  testing::internal::CaptureStderr();
  post(ask("hello"));
  const std::string line = testing::internal::GetCapturedStderr();
  EXPECT_NE(line.find(R"("event":"request")"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("status":200,)"), std::string::npos) << line;
  EXPECT_NE(line.find(R"("total_us":0,)"), std::string::npos) << line;
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
  EXPECT_EQ(post(ask("write code for me"))->status, 503);
  EXPECT_EQ(post(ask("write a poem"))->status, 200);
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
    return post(ask("why are routers square", more), headers)->headers["x-hengshi-path"];
  };
  EXPECT_EQ(as("ann", "bob"), "cache.exact");
  EXPECT_EQ(as("bob", "ann"), "unanswered");
  EXPECT_EQ(as("", "ann"), "cache.exact");
}

TEST_F(Pipeline, BadRequestsNameTheFault) {
  const auto missing = post(R"({"model":"hengshi"})");
  EXPECT_EQ(missing->status, 400);
  EXPECT_NE(missing->body.find(R"("param":"messages")"), std::string::npos);
  const auto model = post(R"({"model":"nope","messages":[{"role":"user","content":"x"}]})");
  EXPECT_EQ(model->status, 404);
  EXPECT_NE(model->body.find("model_not_found"), std::string::npos);
  EXPECT_EQ(post(ask("hello"), {{"x-hengshi-deadline-ms", "soon"}})->status, 400);
  EXPECT_EQ(post(ask("hello"), {{"content-type", "text/plain"}})->status, 415);
  EXPECT_EQ(post(ask("hello"), {}, "/v1/nothing")->status, 404);
  const auto get_chat = post("", {}, "/v1/chat/completions");
  EXPECT_EQ(get_chat->status, 405);
  EXPECT_EQ(get_chat->headers["allow"], "POST");
  EXPECT_EQ(post("{}", {}, "/v1/models")->headers["allow"], "GET, HEAD");
}

TEST_F(Pipeline, ARequestIdIsEchoedWhenItIsHarmless) {
  EXPECT_EQ(post(ask("hello"), {{"x-request-id", "abc-1"}})->headers["x-request-id"], "abc-1");
  EXPECT_TRUE(post(ask("hello"), {{"x-request-id", "a b"}})->headers["x-request-id"].starts_with("req-"));
  EXPECT_TRUE(
      post(ask("hello"), {{"x-request-id", std::string(200, 'a')}})->headers["x-request-id"].starts_with("req-"));
}

TEST_F(Pipeline, HealthReadinessModelsAndMetrics) {
  EXPECT_NE(post("", {}, "/healthz")->body.find(R"("product":"hengshi")"), std::string::npos);
  EXPECT_EQ(post("", {}, "/readyz")->status, 200);
  draining_ = true;
  EXPECT_EQ(post("", {}, "/readyz")->status, 503);
  EXPECT_NE(post("", {}, "/v1/models")->body.find(R"("id":"hengshi")"), std::string::npos);
  EXPECT_EQ(post("", {}, "/v1/models/hengshi")->status, 200);
  EXPECT_EQ(post("", {}, "/v1/models/other")->status, 404);
  post(ask("hello"));
  EXPECT_NE(post("", {}, "/metrics")->body.find(R"(hengshi_requests_total{tenant="default",path="rule"} 1)"),
            std::string::npos);
}

}  // namespace
}  // namespace hengshi::gateway
