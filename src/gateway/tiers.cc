#include "gateway/tiers.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "gateway/admission.h"
#include "gateway/sentences.h"
#include "gateway/stored.h"

namespace hengshi::gateway {

namespace {

int64_t micros_between(Monotonic from, Monotonic to) {
  return std::chrono::duration_cast<std::chrono::microseconds>(to - from).count();
}

int64_t total(const api::Usage& usage) { return usage.prompt + usage.completion; }

std::optional<Answer> from_cache(Visit& visit, const cache::Entry& entry, Path path) {
  auto completion = decode_stored(entry.payload);
  if (!completion) {
    visit.worker.instruments().fail_open("cache");
    return std::nullopt;
  }
  Answer answer{.path = path, .completion = std::move(*completion)};
  answer.decided_by = answer.completion.model;
  answer.cache_age_s = std::max<int64_t>(0, visit.created_s - entry.created_s);
  answer.saved_tokens = total(answer.completion.usage);
  return answer;
}

// Tokens by the local tokenizer of the language; estimated, and marked so, without one.
api::Usage local_usage(const Visit& visit, const Ask& ask, std::string_view text) {
  const nn::Encoder* encoder = visit.snapshot->parts(ask.language).encoder.get();
  const auto count = [&](std::string_view s) {
    return encoder != nullptr ? static_cast<int64_t>(encoder->count_tokens(s)) : api::estimate_tokens(s);
  };
  return {.prompt = count(ask.request.question), .completion = count(text), .estimated = encoder == nullptr};
}

// What the client set that a written answer might break.
std::string_view dishonoured(const api::ChatRequest& request, const api::Usage& usage, std::string_view text) {
  if (request.max_tokens > 0 && usage.completion > request.max_tokens) return "max_tokens";
  for (const auto& stop : request.stop) {
    if (text.find(stop) != text.npos) return "stop";
  }
  return {};
}

std::optional<Answer> written_answer(Visit& visit, const Ask& ask, Path path, std::string decided_by,
                                     std::string_view text) {
  const api::Usage usage = local_usage(visit, ask, text);
  if (const auto why = dishonoured(ask.request, usage, text); !why.empty()) {
    visit.because(path_name(path), why);
    return std::nullopt;
  }
  Answer answer{.path = path, .decided_by = std::move(decided_by)};
  answer.completion = api::text_completion(answer.decided_by, text, usage);
  answer.saved_tokens = total(usage);
  return answer;
}

// A rule that only routes: the operator decided who answers, so the light model is not asked.
void follow_static_route(Visit& visit, Ask& ask, const rules::Match& match) {
  const auto& routes = visit.snapshot->routes;
  const auto named = std::find_if(routes.begin(), routes.end(), [&](const auto& r) { return r->name == match.route; });
  CHECK(named != routes.end(), "a snapshot's rules name only routes it has");
  visit.because("rule", match.rule);
  take_route(visit, ask, *named);
  ask.plan.light = false;
}

uint64_t answer_key(const Digest& id) {
  uint64_t key = 0;
  std::memcpy(&key, id.data(), sizeof key);
  return key;
}

double semantic_threshold(const Ask& ask, const nn::Encoder& encoder) {
  return ask.route->semantic_threshold.value_or(encoder.semantic_threshold());
}

// Everything the work on the pool needs, by value or shared, because the client may be gone before it ends.
struct Job {
  SnapshotPtr snapshot;
  const cache::Cache* cache;
  std::shared_ptr<const nn::Encoder> encoder;
  std::shared_ptr<const light::Model> light;
  std::string question, normalised, partition_of;
  double threshold;
  uint64_t key;
  bool search;
  Weighed out;

  void run() {
    const auto t0 = std::chrono::steady_clock::now();
    out.embedding.resize(encoder->dim());
    encoder->encode(question, out.embedding);
    out.encoded = true;
    const auto t1 = std::chrono::steady_clock::now();
    out.partition = digest(partition_of);
    if (search) out.similar = cache->find_similar(out.partition, normalised, out.embedding, threshold);
    const auto t2 = std::chrono::steady_clock::now();
    if (light != nullptr && !out.similar.hit) out.verdict = light->ask(question, out.embedding, key);
    const auto t3 = std::chrono::steady_clock::now();
    out.encode_us = micros_between(t0, t1);
    out.semantic_us = micros_between(t1, t2);
    out.light_us = micros_between(t2, t3);
  }
};

std::shared_ptr<Job> make_job(const Visit& visit, const Ask& ask, const LanguageParts& parts) {
  auto job = std::make_shared<Job>();
  job->snapshot = visit.snapshot;
  job->cache = &visit.worker.shared().cache;
  job->encoder = parts.encoder;
  if (ask.plan.light && parts.light != nullptr) job->light = parts.light;
  job->question = ask.request.question;
  job->normalised = ask.normalised;
  job->partition_of = ask.scope;
  job->partition_of.append(reinterpret_cast<const char*>(ask.request.fingerprint.data()),
                           ask.request.fingerprint.size());
  job->partition_of += parts.encoder->version();
  job->threshold = semantic_threshold(ask, *parts.encoder);
  job->key = answer_key(ask.exact_id);
  job->search = ask.plan.read_semantic;
  return job;
}

// Why the light model's answer may not be given; empty: it may.
std::string why_not(const light::Verdict& verdict, double threshold) {
  if (threshold >= 1) return "never_answers";  // whatever the question: training found no threshold that would do
  if (verdict.refused) return std::string(verdict.refused_because);
  return verdict.confidence < threshold ? fmt::format("{:.2f}<{:.2f}", verdict.confidence, threshold) : "";
}

}  // namespace

std::optional<Answer> exact_hit(Visit& visit, const Ask& ask) {
  if (!ask.plan.read_exact) return std::nullopt;
  const auto from = visit.worker.shared().clock.monotonic();
  const cache::EntryPtr entry = visit.worker.shared().cache.find(ask.exact_id);
  visit.record.exact_us = visit.micros_since(from);
  if (entry == nullptr) return std::nullopt;
  return from_cache(visit, *entry, Path::kExact);
}

std::optional<Answer> rule_answer(Visit& visit, Ask& ask) {
  if (!ask.plan.rules || visit.snapshot->rules == nullptr) return std::nullopt;
  const auto from = visit.worker.shared().clock.monotonic();
  const auto match = visit.snapshot->rules->match(ask.request.question, ask.language);
  visit.record.rules_us = visit.micros_since(from);
  if (!match) return std::nullopt;
  if (!match->route.empty()) {
    follow_static_route(visit, ask, *match);
    return std::nullopt;
  }
  return written_answer(visit, ask, Path::kRule, fmt::format("rule/{}", match->rule), match->answer);
}

io::Task<Weighed> weigh(Visit& visit, Ask& ask) {
  const LanguageParts& parts = visit.snapshot->parts(ask.language);
  const bool wanted = ask.plan.read_semantic || ask.plan.write_semantic || ask.plan.light;
  if (!wanted || parts.encoder == nullptr) co_return Weighed{};
  ask.normalised = text::normalise(ask.request.question);
  const auto job = make_job(visit, ask, parts);
  std::function<void()> work = [job] { job->run(); };
  // Encoding is there to save an upstream's time, not to spend it.
  const io::Deadline patience = ask.first_answer.earlier(visit.started + ask.route->times.first_answer / 4);
  const auto ran = co_await visit.worker.shared().pool.run(std::move(work), patience);
  if (!ran) {  // Only an optimisation: without it the next tier answers.
    if (ran.error().code != ErrorCode::kCancelled) visit.worker.instruments().fail_open("encoder");
    visit.because("encoder", ran.error().code == ErrorCode::kDeadline ? "too_late" : "overloaded");
    co_return Weighed{};
  }
  visit.record.encode_us = job->out.encode_us;
  visit.record.semantic_us = job->out.semantic_us;
  visit.record.light_us = job->out.light_us;
  co_return std::move(job->out);
}

std::optional<Answer> similar_hit(Visit& visit, const Ask& ask, const Weighed& weighed) {
  if (!weighed.encoded || !ask.plan.read_semantic) return std::nullopt;
  if (!weighed.similar.hit) {
    if (!weighed.similar.refused_by.empty()) visit.because("semantic", weighed.similar.refused_by);
    return std::nullopt;
  }
  auto answer = from_cache(visit, *weighed.similar.hit->entry, Path::kSemantic);
  if (answer) {
    answer->confidence = weighed.similar.hit->similarity;
    answer->threshold = semantic_threshold(ask, *visit.snapshot->parts(ask.language).encoder);
  }
  return answer;
}

std::optional<Answer> light_answer(Visit& visit, const Ask& ask, const Weighed& weighed, bool degraded) {
  if (!weighed.verdict) return std::nullopt;
  const light::Verdict& verdict = *weighed.verdict;
  const light::Model& model = *visit.snapshot->parts(ask.language).light;
  const double threshold =
      degraded ? ask.route->floor.value_or(verdict.floor) : ask.route->light_threshold.value_or(verdict.threshold);
  visit.record.intent = verdict.intent;
  visit.record.confidence = verdict.confidence;
  visit.record.threshold = threshold;
  if (const std::string why = why_not(verdict, threshold); !why.empty()) {
    visit.because("light", why);
    return std::nullopt;
  }
  std::string said = verdict.answer;
  if (degraded && ask.route->notice == Notice::kText) said += notice_sentence(ask.language);
  auto answer = written_answer(visit, ask, degraded ? Path::kDegraded3 : Path::kLight,
                               fmt::format("light/{}@{}", model.name(), model.version()), said);
  if (answer) {
    answer->confidence = verdict.confidence;
    answer->threshold = threshold;
    answer->asks = verdict.asks;
    if (!verdict.asks.empty()) visit.because("light", fmt::format("asks:{}", verdict.asks));
  }
  return answer;
}

}  // namespace hengshi::gateway
