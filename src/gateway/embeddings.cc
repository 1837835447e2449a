#include "gateway/embeddings.h"

#include <fmt/format.h>

#include <cmath>

#include "api/embeddings.h"
#include "gateway/admission.h"
#include "gateway/reply.h"

namespace hengshi::gateway {

namespace {

struct Job {
  std::shared_ptr<const nn::Encoder> encoder;
  api::EmbeddingsRequest request;
  std::vector<std::vector<float>> vectors;
  int64_t tokens = 0;

  void run() {
    for (const auto& text : request.texts) {
      vectors.emplace_back(encoder->dim());
      encoder->encode(text, vectors.back());
      tokens += static_cast<int64_t>(encoder->count_tokens(text));
    }
    for (const auto& ids : request.token_ids) {
      vectors.emplace_back(encoder->dim());
      encoder->encode_ids(ids, vectors.back());
      tokens += static_cast<int64_t>(ids.size());
    }
    if (request.dimensions > 0) shorten(static_cast<size_t>(request.dimensions));
  }

  void shorten(size_t dim) {
    for (auto& v : vectors) {
      v.resize(dim);
      float norm = 0;
      for (const float x : v) norm += x * x;
      if (norm > 0) {
        for (float& x : v) x /= std::sqrt(norm);
      }
    }
  }
};

// "hengshi" and its aliases take the encoder of the first text's language; an encoder's own name takes that one.
Result<std::shared_ptr<const nn::Encoder>> choose(const Snapshot& snapshot, const api::EmbeddingsRequest& request) {
  for (const LanguageParts* parts : {&snapshot.chinese, &snapshot.english}) {
    if (parts->encoder != nullptr && parts->encoder->name() == request.model) return parts->encoder;
  }
  const auto route = snapshot.by_model.find(request.model);
  if (route != snapshot.by_model.end() && !route->second->concrete && !request.texts.empty()) {
    const LanguageParts* parts = snapshot.parts(text::detect_language(request.texts.front()));
    if (parts == nullptr) parts = &snapshot.english;
    if (parts->encoder != nullptr) return parts->encoder;
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("'{}' is no embedding model here. GET /v1/models lists those that are there.",
                          request.model.substr(0, 100)),
              "model", "model_not_found");
}

Result<std::shared_ptr<Job>> admit(Visit& visit) {
  TRY_OK(admit_key(visit));
  TRY(auto request, api::parse_embeddings(visit.exchange.request().body));
  TRY(auto encoder, choose(*visit.snapshot, request));
  if (request.dimensions > static_cast<int64_t>(encoder->dim())) {
    return fail(ErrorCode::kInvalidRequest, fmt::format("'{}' has {} dimensions.", encoder->name(), encoder->dim()),
                "dimensions");
  }
  auto job = std::make_shared<Job>();
  job->encoder = std::move(encoder);
  job->request = std::move(request);
  return job;
}

}  // namespace

io::Task<void> serve_embeddings(Worker& worker, io::Exchange& exchange) {
  Visit visit(worker, exchange);
  auto job = admit(visit);
  if (!job) {
    co_await refuse(visit, std::move(job.error()));
    co_return;
  }
  std::function<void()> work = [job = *job] { job->run(); };
  auto ran = co_await worker.shared().pool.run(std::move(work));
  if (!ran) {
    co_await refuse(visit, std::move(ran.error()));
    co_return;
  }
  worker.shared().limits.spend(*visit.key, (*job)->tokens);
  const std::string body =
      api::write_embeddings((*job)->encoder->name(), (*job)->vectors, (*job)->request.base64, (*job)->tokens);
  co_await send_json(visit, 200, body);
}

}  // namespace hengshi::gateway
