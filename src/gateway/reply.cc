#include "gateway/reply.h"

#include <fmt/format.h>

#include <iterator>
#include <memory>

#include "api/errors.h"
#include "base/log.h"
#include "gateway/instruments.h"
#include "gateway/sentences.h"

namespace hengshi::gateway {

namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kNoTenant = "unknown";  // in the metrics, of a request that showed no key of ours

// Owns the numbers that headers point into.
class Headers {
 public:
  explicit Headers(const Visit& visit, std::string_view content_type) {
    items_.reserve(20);
    add("content-type", content_type);
    add("x-request-id", visit.request_id);
    rates(visit.rates);
  }
  void add(std::string_view name, std::string_view value) { items_.emplace_back(name, value); }
  void add_number(std::string_view name, int64_t value) { add(name, keep(fmt::format_int(value).str())); }
  void add_share(std::string_view name, double value) { add(name, keep(fmt::format("{:.4f}", value))); }

  void answer(const Visit& visit, const Answer& answer) {
    add("x-hengshi-path", path_name(answer.path));
    add("x-hengshi-model", answer.decided_by);
    add("x-hengshi-decision", visit.decision);
    if (answer.confidence) add_share("x-hengshi-confidence", *answer.confidence);
    if (answer.threshold) add_share("x-hengshi-threshold", *answer.threshold);
    if (answer.cache_age_s) add_number("x-hengshi-cache-age", *answer.cache_age_s);
    if (!answer.degraded.empty()) add("x-hengshi-degraded", answer.degraded);
  }
  std::span<const io::Header> all() const { return items_; }

 private:
  std::string_view keep(std::string value) {
    kept_[used_] = std::move(value);
    return kept_[used_++];
  }
  void rates(const RateState& rates) {
    if (rates.limit_requests > 0) {
      add_number("x-ratelimit-limit-requests", rates.limit_requests);
      add_number("x-ratelimit-remaining-requests", rates.remaining_requests);
      add("x-ratelimit-reset-requests", keep(fmt::format("{}s", rates.reset_requests_s)));
    }
    if (rates.limit_tokens > 0) {
      add_number("x-ratelimit-limit-tokens", rates.limit_tokens);
      add_number("x-ratelimit-remaining-tokens", rates.remaining_tokens);
      add("x-ratelimit-reset-tokens", keep(fmt::format("{}s", rates.reset_tokens_s)));
    }
  }

  std::vector<io::Header> items_;
  std::array<std::string, 12> kept_;
  size_t used_ = 0;
};

void write_access_log(const Visit& visit, const ledger::Record& record) {
  if (!visit.snapshot->access_log) return;
  log(LogLevel::kInfo, "request",
      {{"request_id", record.request_id},
       {"tenant", record.tenant},
       {"key", visit.key != nullptr ? std::string_view(visit.key->name) : ""},
       {"target", shown(visit.exchange.request().path())},
       {"status", record.status},
       {"path", record.path},
       {"model", record.model},
       {"total_us", record.total_us},
       {"peer", visit.exchange.request().peer}});
}

io::Task<bool> send_answer(Visit& visit, const Ask& ask, const Answer& answer) {
  std::string body;
  const api::Extension extension = extension_of(visit, answer);
  const api::Extension* shown = ask.request.extension ? &extension : nullptr;
  const std::string id = "chatcmpl-" + visit.decision;
  if (!ask.request.stream) {
    api::write_completion(body, id, visit.created_s, answer.completion, shown);
    co_return co_await send_whole(visit, answer, body);
  }
  const api::ChunkWriter writer(id, visit.created_s, answer.completion.model, ask.request.include_usage);
  writer.replay(body, answer.completion, shown);
  bool there = co_await begin_stream(visit, answer);
  if (there) there = co_await visit.exchange.write(body);
  co_await visit.exchange.end_stream(there);
  co_return there;
}

}  // namespace

api::Extension extension_of(const Visit& visit, const Answer& answer) {
  return {.path = path_name(answer.path),
          .model = answer.decided_by,
          .decision = visit.decision,
          .confidence = answer.confidence,
          .threshold = answer.threshold,
          .asks = answer.asks,
          .cache_age_s = answer.cache_age_s,
          .degraded = answer.degraded,
          .answered = answer.path != Path::kUnanswered,
          .saved_tokens = answer.saved_tokens,
          .cost_micro_usd = answer.cost_micro_usd,
          .total_us = visit.elapsed_us()};
}

void close_record(Visit& visit, const Ask* ask, const Answer& answer, int status) {
  ledger::Record& record = visit.record;
  const auto elapsed = visit.worker.shared().clock.monotonic() - visit.started;
  record.path = path_name(answer.path);
  record.model = answer.decided_by;
  record.status = status;
  record.total_us = std::chrono::duration_cast<std::chrono::microseconds>(elapsed).count();
  if (answer.confidence) record.confidence = answer.confidence;
  if (answer.threshold) record.threshold = answer.threshold;
  record.prompt_tokens = answer.completion.usage.prompt;
  record.completion_tokens = answer.completion.usage.completion;
  record.cached_tokens = answer.completion.usage.cached;
  record.estimated = answer.completion.usage.estimated;
  record.saved_tokens = answer.saved_tokens;
  record.cost_micro_usd = answer.cost_micro_usd;
  if (ask != nullptr && visit.worker.shared().settings.record_text) {
    record.question = ask->request.question;
    record.answer = api::text_of(answer.completion);
  }
  if (visit.key != nullptr)
    visit.worker.shared().limits.spend(*visit.key, record.prompt_tokens + record.completion_tokens);
  visit.worker.instruments().finished({.tenant = record.tenant.empty() ? kNoTenant : record.tenant,
                                       .path = answer.path,
                                       .status = status,
                                       .elapsed = elapsed,
                                       .prompt_tokens = record.prompt_tokens,
                                       .completion_tokens = record.completion_tokens,
                                       .saved_tokens = record.saved_tokens,
                                       .cost_micro_usd = record.cost_micro_usd});
  write_access_log(visit, record);
  visit.worker.shared().ledger.append(std::move(record));
}

io::Task<bool> begin_stream(Visit& visit, const Answer& answer) {
  Headers headers(visit, "text/event-stream; charset=utf-8");
  headers.add("cache-control", "no-cache");
  headers.add("x-accel-buffering", "no");
  headers.answer(visit, answer);
  co_return co_await visit.exchange.begin_stream(200, headers.all());
}

io::Task<bool> send_whole(Visit& visit, const Answer& answer, std::string_view body) {
  Headers headers(visit, kJson);
  headers.answer(visit, answer);
  co_return co_await visit.exchange.send(200, headers.all(), body);
}

io::Task<void> reply(Visit& visit, const Ask& ask, const Answer& answer) {
  const bool there = co_await send_answer(visit, ask, answer);
  close_record(visit, &ask, answer, there ? 200 : kClientGone);
}

io::Task<void> refuse(Visit& visit, Error error, std::string_view allow) {
  const int status = http_status(error.code);
  const std::string body = api::write_error(error);
  Headers headers(visit, kJson);
  headers.add("x-hengshi-path", path_name(Path::kError));
  headers.add("x-hengshi-decision", visit.decision);
  const bool wait = status == 429 || status == 503;
  if (wait || error.retry_after_s > 0) headers.add_number("retry-after", std::max(error.retry_after_s, 1));
  if (!allow.empty()) headers.add("allow", allow);
  co_await visit.exchange.send(status, headers.all(), body);
  Answer none{.path = Path::kError};
  if (visit.record.reasons.empty()) visit.because("error", error.reason.empty() ? error.param : error.reason);
  close_record(visit, nullptr, none, status);
}

io::Task<void> send_json(Visit& visit, int status, std::string_view body) {
  const Headers headers(visit, kJson);
  co_await visit.exchange.send(status, headers.all(), body);
}

}  // namespace hengshi::gateway
