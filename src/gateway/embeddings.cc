#include "gateway/embeddings.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "api/embeddings.h"
#include "gateway/admission.h"
#include "gateway/reply.h"
#include "gateway/sentences.h"
#include "io/cancel.h"

namespace hengshi::gateway {

namespace {

constexpr std::chrono::seconds kBudget{60};

struct Job {
  std::shared_ptr<const nn::Encoder> encoder;
  api::EmbeddingsRequest request;
  std::vector<std::vector<float>> vectors;
  int64_t tokens = 0;

  size_t size() const { return request.texts.size() + request.token_ids.size(); }

  void run(size_t i) {
    std::vector<float>& out = vectors[i];
    out.resize(encoder->dim());
    if (request.texts.empty()) {
      encoder->encode_ids(request.token_ids[i], out);
      tokens += static_cast<int64_t>(request.token_ids[i].size());
    } else {
      encoder->encode(request.texts[i], out);
      tokens += static_cast<int64_t>(encoder->count_tokens(request.texts[i]));
    }
    if (request.dimensions > 0) shorten(out, static_cast<size_t>(request.dimensions));
  }

  static void shorten(std::vector<float>& vector, size_t dim) {
    vector.resize(dim);
    float norm = 0;
    for (const float x : vector) norm += x * x;
    if (norm > 0) {
      for (float& x : vector) x /= std::sqrt(norm);
    }
  }
};

// "hengshi" and its aliases take the encoder of the first text's language; an encoder's own name takes that one.
Result<std::shared_ptr<const nn::Encoder>> choose(const Snapshot& snapshot, const api::EmbeddingsRequest& request) {
  for (const LanguageParts& parts : snapshot.languages) {
    if (parts.encoder != nullptr && parts.encoder->name() == request.model) return parts.encoder;
  }
  const auto route = snapshot.by_model.find(request.model);
  if (route != snapshot.by_model.end() && !route->second->concrete && !request.texts.empty()) {
    for (const text::Language language : {text::detect_language(request.texts.front()), text::Language::kEnglish}) {
      if (const auto& encoder = snapshot.parts(language).encoder; encoder != nullptr) return encoder;
    }
  }
  return fail(
      ErrorCode::kNotFound,
      fmt::format("'{}' is no embedding model here. GET /v1/models lists those that are there.", shown(request.model)),
      "model", "model_not_found");
}

Result<std::shared_ptr<Job>> admit(Visit& visit) {
  TRY_OK(admit_key(visit));
  TRY_OK(require_json(visit.exchange.request()));
  TRY(auto request, api::parse_embeddings(visit.exchange.request().body));
  TRY(auto encoder, choose(*visit.snapshot, request));
  TRY_OK(api::check_token_ids(request, encoder->vocabulary()));
  if (request.dimensions > static_cast<int64_t>(encoder->dim())) {
    return fail(ErrorCode::kInvalidRequest, fmt::format("'{}' has {} dimensions.", encoder->name(), encoder->dim()),
                "dimensions");
  }
  auto job = std::make_shared<Job>();
  job->encoder = std::move(encoder);
  job->request = std::move(request);
  job->vectors.resize(job->size());
  return job;
}

// One text at a time: between two of them questions have their turn, and a client that has left is noticed.
io::Task<Result<void>> encode_all(io::ComputePool& pool, std::shared_ptr<Job> job) {
  const io::Deadline deadline = io::Deadline::after(kBudget);
  for (size_t i = 0; i < job->size(); ++i) {
    std::function<void()> work = [job, i] { job->run(i); };
    CO_TRY_OK(co_await pool.run(std::move(work), deadline, io::Urgency::kBulk));
  }
  co_return Result<void>{};
}

}  // namespace

io::Task<void> serve_embeddings(Worker& worker, io::Exchange& exchange) {
  Visit visit(worker, exchange);
  auto admitted = admit(visit);
  if (!admitted) {
    co_await refuse(visit, std::move(admitted.error()));
    co_return;
  }
  const std::shared_ptr<Job> job = std::move(*admitted);
  const auto gone = std::make_shared<io::Cancellation>();
  std::function<void()> cancel = [gone] { gone->request(); };
  exchange.watch_client(std::move(cancel));
  auto ran = co_await gone->guard(encode_all(worker.shared().pool, job));
  Answer answer{.path = Path::kEmbeddings, .decided_by = job->encoder->name()};
  if (!ran && ran.error().code == ErrorCode::kCancelled) {
    visit.because("client", "gone");
    close_record(visit, nullptr, answer, kClientGone);
    co_return;
  }
  if (!ran) {
    co_await refuse(visit, std::move(ran.error()));
    co_return;
  }
  answer.completion.usage.prompt = job->tokens;
  const std::string body = api::write_embeddings(job->encoder->name(), job->vectors, job->request.base64, job->tokens);
  const bool there = co_await send_whole(visit, answer, body);
  close_record(visit, nullptr, answer, there ? 200 : kClientGone);
}

}  // namespace hengshi::gateway
