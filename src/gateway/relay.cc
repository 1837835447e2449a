#include "gateway/relay.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "base/money.h"
#include "gateway/reply.h"
#include "gateway/sentences.h"
#include "gateway/stored.h"
#include "io/cancel.h"

namespace hengshi::gateway {

namespace {

// An answer on its way from an upstream.
struct Conversation {
  Answer answer;
  std::optional<upstream::Opened> opened;
  const upstream::Options* by = nullptr;  // who is answering; null before anyone does
  bool streaming = false;                 // the head has been sent: from now on errors are events
};

bool clients_fault(ErrorCode code) {
  return code == ErrorCode::kInvalidRequest || code == ErrorCode::kNotFound || code == ErrorCode::kTooLarge ||
         code == ErrorCode::kUnprocessable;
}

// One word for the record and the header: what went wrong, never what an upstream said.
std::string_view why(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidRequest:
    case ErrorCode::kNotFound:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnprocessable: return "upstream_refused";
    case ErrorCode::kDeadline: return "upstream_timeout";
    case ErrorCode::kOverloaded: return "upstream_overloaded";
    case ErrorCode::kRateLimited: return "upstream_rate_limited";
    default: return "upstream_error";
  }
}

io::Deadline next_token_deadline(const Ask& ask) {
  return ask.total.earlier(std::chrono::steady_clock::now() + ask.route->times.between_tokens);
}

// An upstream that states no usage is billed by an estimate, marked as one.
void price(Answer& answer, const Ask& ask, const upstream::Options& by, api::Completion completion) {
  api::Usage& usage = completion.usage;
  if (usage.estimated && usage.prompt == 0) usage.prompt = api::estimate_tokens(ask.request.body);
  answer.cost_micro_usd = cost_micro_usd(by.price, usage.prompt, usage.cached, usage.completion);
  completion.model = by.model;
  answer.completion = std::move(completion);
}

// What an answer that was not finished had come to: it is paid for all the same, and counted by an estimate.
void price_unfinished(Conversation& talk, const Ask& ask) {
  if (talk.by == nullptr || !talk.opened) return;
  api::Completion completion;
  completion.usage = {.completion = api::estimate_tokens(talk.opened->assembler.text()), .estimated = true};
  price(talk.answer, ask, *talk.by, std::move(completion));
}

// Only what finished by itself is worth keeping.
void store(Visit& visit, const Ask& ask, const Weighed& weighed, const api::Completion& completion) {
  if (!(ask.plan.write_exact || ask.plan.write_semantic) || !api::complete(completion)) return;
  cache::Entry entry{.id = ask.exact_id,
                     .partition = weighed.partition,
                     .question = ask.normalised,
                     .model = completion.model,
                     .payload = encode_stored(completion),
                     .created_s = visit.created_s};
  const bool semantic = ask.plan.write_semantic && weighed.encoded;
  visit.worker.shared().cache.insert(std::move(entry),
                                     semantic ? std::span<const float>(weighed.embedding) : std::span<const float>{});
}

// Passes chunks on as they come; the last one waits until the cost is known, so that it can say it.
class Relay {
 public:
  Relay(Visit& visit, const Ask& ask, Conversation& talk)
      : visit_(visit),
        ask_(ask),
        talk_(talk),
        writer_("chatcmpl-" + visit.decision, visit.created_s, talk.answer.completion.model,
                ask.request.include_usage) {}

  // What came together leaves together. False in the result: the client has gone.
  io::Task<Result<bool>> chunks(std::vector<upstream::Chunk> chunks) {
    std::string out;
    for (upstream::Chunk& chunk : chunks) CO_TRY_OK(append(out, chunk));
    if (out.empty()) co_return true;
    co_return co_await visit_.exchange.write(out);
  }

  io::Task<Result<bool>> finish() {
    const api::Extension extension = extension_of(visit_, talk_.answer);
    const api::Extension* shown = ask_.request.extension ? &extension : nullptr;
    const bool owes_usage = ask_.request.include_usage && !held_counts_ && !writer_.told_usage();
    std::string out;
    if (!held_.empty()) CO_TRY_OK(writer_.relay(out, held_, owes_usage ? nullptr : shown));
    writer_.usage(out, talk_.answer.completion.usage, owes_usage ? shown : nullptr);
    api::ChunkWriter::done(out);
    co_return co_await visit_.exchange.write(out);
  }

 private:
  Result<void> append(std::string& out, upstream::Chunk& chunk) {
    auto& [data, seen] = chunk;
    const bool told = !ask_.request.include_usage || held_counts_ || writer_.told_usage();
    if (seen.ignored || (seen.usage_only && told)) return {};
    if (!held_.empty()) {
      TRY_OK(writer_.relay(out, held_, nullptr));
      held_.clear();
      held_counts_ = false;
    }
    if (seen.finished || seen.usage_only) {
      held_ = std::move(data);
      held_counts_ = seen.counts;
      return {};
    }
    if (!std::exchange(first_, false) || !ask_.request.extension) return writer_.relay(out, data, nullptr);
    const api::Extension extension = extension_of(visit_, talk_.answer);
    return writer_.relay(out, data, &extension);
  }

  Visit& visit_;
  const Ask& ask_;
  Conversation& talk_;
  api::ChunkWriter writer_;
  std::string held_;
  bool held_counts_ = false;  // it says what was used
  bool first_ = true;
};

io::Task<Result<void>> pass_on(Visit& visit, const Ask& ask, upstream::Opened& opened, Conversation& talk) {
  talk.streaming = true;
  if (!co_await begin_stream(visit, talk.answer)) co_return fail(ErrorCode::kCancelled, "The client has left.");
  Relay relay(visit, ask, talk);
  while (true) {
    auto chunks = std::exchange(opened.chunks, {});
    auto taken = co_await relay.chunks(std::move(chunks));
    if (!taken) opened.answer->reject(taken.error());
    CO_TRY(const bool there, std::move(taken));
    if (!there) co_return fail(ErrorCode::kCancelled, "The client has left.");
    if (opened.ended) break;
    CO_TRY_OK(co_await opened.more(next_token_deadline(ask)));
  }
  CO_TRY(auto completion, opened.assembler.completion());
  price(talk.answer, ask, opened.upstream->options(), std::move(completion));
  CO_TRY(const bool there, co_await relay.finish());
  co_await visit.exchange.end_stream(there);
  if (!there) co_return fail(ErrorCode::kCancelled, "The client has left.");
  co_return Result<void>{};
}

io::Task<Result<void>> collect(const Ask& ask, upstream::Opened& opened, Conversation& talk) {
  while (!opened.ended) {
    opened.chunks.clear();
    CO_TRY_OK(co_await opened.more(next_token_deadline(ask)));
  }
  CO_TRY(auto completion, opened.assembler.completion());
  price(talk.answer, ask, opened.upstream->options(), std::move(completion));
  co_return Result<void>{};
}

io::Task<void> break_off(Visit& visit, const Ask& ask, Conversation& talk, const Error& error) {
  std::string out;
  api::ChunkWriter::error(out, error);
  co_await visit.exchange.write(out);
  co_await visit.exchange.end_stream(false);
  visit.because(talk.by->name, why(error.code));
  price_unfinished(talk, ask);
  talk.answer.path = Path::kError;
  close_record(visit, &ask, talk.answer, http_status(error.code));
}

io::Task<void> degrade(Visit& visit, const Ask& ask, const Weighed& weighed, Error error) {
  const std::string_view reason = ask.route->chain.empty() ? "no_upstream" : why(error.code);
  const Route& route = *ask.route;
  if (!route.concrete) {
    if (auto answer = light_answer(visit, ask, weighed, /*degraded=*/true)) {
      answer->degraded = reason;
      co_await reply(visit, ask, *answer);
      co_return;
    }
  }
  // Its Retry-After is worth more to the caller than an apology.
  if (route.concrete || error.code == ErrorCode::kRateLimited) {
    co_await refuse(visit, std::move(error));
    co_return;
  }
  if (route.on_exhausted == OnExhausted::kUnavailable) {
    Error unavailable{ErrorCode::kOverloaded, "No model could answer in time. Try again later."};
    unavailable.reason = reason;
    unavailable.retry_after_s = std::max(error.retry_after_s, 5);
    co_await refuse(visit, std::move(unavailable));
    co_return;
  }
  Answer apology{.path = Path::kUnanswered, .decided_by = "apology", .degraded = reason};
  apology.completion = api::text_completion("hengshi", apology_sentence(ask.language), {});
  co_await reply(visit, ask, apology);
}

std::vector<upstream::Upstream*> pointers(const Route& route) {
  std::vector<upstream::Upstream*> out;
  out.reserve(route.chain.size());
  for (const auto& one : route.chain) out.push_back(one.get());
  return out;
}

void note_attempts(Visit& visit, std::vector<upstream::Attempt>& attempts) {
  for (const auto& attempt : attempts) visit.because(attempt.upstream, why(attempt.error.code));
  attempts.clear();
}

io::Task<Result<void>> converse(Visit& visit, Ask& ask, const Weighed& weighed, Conversation& talk) {
  const std::vector<upstream::Upstream*> chain = pointers(*ask.route);
  const auto from = std::chrono::steady_clock::now();
  Error last{ErrorCode::kOverloaded, "No upstream is configured for this route."};
  size_t next = 0;
  while (next < chain.size()) {
    std::vector<upstream::Attempt> attempts;
    upstream::CallHeaders headers;
    headers.request_id = visit.request_id;
    headers.traceparent = visit.exchange.request().header("traceparent");
    // After a cut answer the next upstream has its own time to a first token, inside the total.
    const io::Deadline first =
        next == 0 ? ask.first_answer
                  : ask.total.earlier(std::chrono::steady_clock::now() + ask.route->times.first_answer);
    auto opened = co_await upstream::open_first(std::span(chain).subspan(next), visit.worker.client(), ask.request,
                                                std::move(headers), first, &attempts);
    note_attempts(visit, attempts);
    if (!opened) {
      last = std::move(opened.error());
      break;
    }
    visit.record.first_token_us = visit.elapsed_us();
    next = static_cast<size_t>(std::find(chain.begin(), chain.end(), opened->upstream) - chain.begin()) + 1;
    upstream::Opened& answering = talk.opened.emplace(*std::move(opened));
    talk.by = &answering.upstream->options();
    talk.answer.decided_by = talk.by->name + "/" + talk.by->model;
    talk.answer.completion.model = talk.by->model;
    Result<void> done;
    if (ask.request.stream) {
      done = co_await pass_on(visit, ask, answering, talk);
    } else {
      done = co_await collect(ask, answering, talk);
    }
    visit.record.upstream_us = visit.micros_since(from);
    if (done) {
      store(visit, ask, weighed, talk.answer.completion);
      if (ask.request.stream) {
        close_record(visit, &ask, talk.answer, 200);
      } else {
        co_await reply(visit, ask, talk.answer);
      }
      co_await answering.answer->close();  // Last, so that nobody waits for it.
      co_return Result<void>{};
    }
    answering.answer.reset();  // Its place is free: a client that reads slowly holds no upstream.
    if (done.error().code == ErrorCode::kCancelled) co_return tl::unexpected(std::move(done.error()));
    last = std::move(done.error());
    if (talk.streaming) {
      co_await break_off(visit, ask, talk, last);
      co_return Result<void>{};
    }
    visit.because(talk.by->name, why(last.code));
  }
  if (clients_fault(last.code)) {
    co_await refuse(visit, std::move(last));
  } else {
    co_await degrade(visit, ask, weighed, std::move(last));
  }
  co_return Result<void>{};
}

}  // namespace

io::Task<void> relay(Visit& visit, Ask& ask, const Weighed& weighed) {
  const auto gone = std::make_shared<io::Cancellation>();
  std::function<void()> cancel = [gone] { gone->request(); };
  visit.exchange.watch_client(std::move(cancel));
  Conversation talk;
  auto done = co_await gone->guard(converse(visit, ask, weighed, talk));
  if (done) co_return;
  if (done.error().code != ErrorCode::kCancelled && !talk.streaming) {
    co_await refuse(visit, std::move(done.error()));
    co_return;
  }
  visit.because("client", "gone");
  if (talk.by == nullptr) talk.answer.path = Path::kError;
  price_unfinished(talk, ask);
  if (talk.streaming) co_await visit.exchange.end_stream(false);
  close_record(visit, &ask, talk.answer, kClientGone);
}

}  // namespace hengshi::gateway
