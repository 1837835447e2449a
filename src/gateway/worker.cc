#include "gateway/worker.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "gateway/admission.h"
#include "gateway/embeddings.h"
#include "gateway/pipeline.h"
#include "gateway/reply.h"
#include "gateway/sentences.h"

namespace hengshi::gateway {

namespace {

constexpr std::string_view kModels = "/v1/models";

std::string percent_decoded(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char byte = 0;
    const bool escape = text[i] == '%' && i + 2 < text.size() &&
                        std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16).ptr == text.data() + i + 3;
    out += escape ? static_cast<char>(byte) : text[i];
    if (escape) i += 2;
  }
  return out;
}

io::Task<void> serve_models(Worker& worker, io::Exchange& exchange) {
  Visit visit(worker, exchange);
  if (auto admitted = admit_key(visit); !admitted) {
    co_await refuse(visit, std::move(admitted.error()));
    co_return;
  }
  const auto cards = model_cards(*visit.snapshot);
  std::string id = percent_decoded(exchange.request().path().substr(kModels.size()));
  if (id.empty() || id == "/") {
    const std::string body = api::write_models(cards);
    co_await send_json(visit, 200, body);
    co_return;
  }
  id.erase(0, 1);
  const auto card = std::find_if(cards.begin(), cards.end(), [&](const auto& c) { return c.id == id; });
  if (card == cards.end()) {
    Error error{ErrorCode::kNotFound, fmt::format("The model '{}' does not exist here.", shown(id)), "model",
                "model_not_found"};
    co_await refuse(visit, std::move(error));
    co_return;
  }
  const std::string body = api::write_model(*card);
  co_await send_json(visit, 200, body);
}

io::Task<void> serve_health(Worker& worker, io::Exchange& exchange) {
  Visit visit(worker, exchange);
  const std::string body =
      fmt::format(R"({{"status":"ok","product":"hengshi","version":"{}"}})", worker.shared().settings.version);
  co_await send_json(visit, 200, body);
}

// Ready while it accepts work: not before the first snapshot (there is none without one), not while draining.
io::Task<void> serve_ready(Worker& worker, io::Exchange& exchange) {
  Visit visit(worker, exchange);
  const bool ready = !worker.shared().draining.load();
  const std::string body = fmt::format(R"({{"status":"{}"}})", ready ? "ready" : "draining");
  co_await send_json(visit, ready ? 200 : 503, body);
}

// The metrics name tenants, and no client's key may read another's figures: they have a key of their own.
io::Task<void> serve_metrics(Worker& worker, io::Exchange& exchange) {
  Visit visit(worker, exchange);
  const auto& wanted = worker.shared().settings.metrics_key;
  if (wanted && digest(bearer_key(exchange.request().header("authorization"))) != *wanted) {
    Error error{ErrorCode::kUnauthorized,
                "/metrics asks for the key of [server] metrics_key_env. Send it as 'Authorization: Bearer KEY'.",
                {},
                "invalid_api_key"};
    co_await refuse(visit, std::move(error));
    co_return;
  }
  const std::string body = worker.shared().metrics.render();
  const std::array<io::Header, 2> headers = {
      {{"content-type", "text/plain; version=0.0.4; charset=utf-8"}, {"x-request-id", visit.request_id}}};
  co_await exchange.send(200, headers, body);
}

io::Task<void> serve_unknown(Worker& worker, io::Exchange& exchange) {
  Visit visit(worker, exchange);
  Error error{ErrorCode::kNotFound,
              fmt::format("There is no {} {} here. See GET /v1/models, POST /v1/chat/completions, POST /v1/embeddings, "
                          "/healthz, /readyz, /metrics.",
                          shown(exchange.request().method), shown(exchange.request().path())),
              {},
              "unknown_url"};
  co_await refuse(visit, std::move(error));
}

io::Task<void> refuse_method(Worker& worker, io::Exchange& exchange, std::string_view allowed) {
  Visit visit(worker, exchange);
  Error error{ErrorCode::kMethodNotAllowed,
              fmt::format("{} is not for this path: use {}.", shown(exchange.request().method), allowed)};
  co_await refuse(visit, std::move(error), allowed == "GET" ? "GET, HEAD" : allowed);
}

using Serve = io::Task<void> (*)(Worker&, io::Exchange&);
struct Endpoint {
  std::string_view path;
  std::string_view method;
  Serve serve;
};

constexpr std::array<Endpoint, 6> kEndpoints = {{{"/v1/chat/completions", "POST", serve},
                                                 {"/v1/embeddings", "POST", serve_embeddings},
                                                 {kModels, "GET", serve_models},
                                                 {"/healthz", "GET", serve_health},
                                                 {"/readyz", "GET", serve_ready},
                                                 {"/metrics", "GET", serve_metrics}}};

const Endpoint* find_endpoint(std::string_view path) {
  for (const Endpoint& endpoint : kEndpoints) {
    if (path == endpoint.path) return &endpoint;
    if (endpoint.path == kModels && path.starts_with("/v1/models/")) return &endpoint;
  }
  return nullptr;
}

}  // namespace

Worker::Worker(Shared& shared, io::EventLoop& loop)
    : shared_(shared), client_(io::HttpClient::make(loop)), instruments_(shared.metrics) {}

io::Task<void> Worker::handle(io::Exchange& exchange) {
  const Endpoint* endpoint = find_endpoint(exchange.request().path());
  if (endpoint == nullptr) return serve_unknown(*this, exchange);
  const std::string& method = exchange.request().method;
  if (method != endpoint->method && !(method == "HEAD" && endpoint->method == "GET")) {
    return refuse_method(*this, exchange, endpoint->method);
  }
  return endpoint->serve(*this, exchange);
}

io::HandlerFactory make_handlers(Shared& shared) {
  return [&shared](io::EventLoop& loop, int) -> io::Handler {
    auto worker = std::make_shared<Worker>(shared, loop);
    return [worker](io::Exchange& exchange) { return worker->handle(exchange); };
  };
}

std::vector<api::ModelCard> model_cards(const Snapshot& snapshot) {
  std::vector<api::ModelCard> cards;
  cards.reserve(snapshot.by_model.size() + snapshot.languages.size());
  for (const auto& [model, route] : snapshot.by_model) {
    cards.push_back({model, route->concrete ? route->chain.front()->options().name : "hengshi", snapshot.created_s});
  }
  for (const LanguageParts& parts : snapshot.languages) {
    if (parts.encoder != nullptr) cards.push_back({parts.encoder->name(), "hengshi", snapshot.created_s});
  }
  return cards;
}

}  // namespace hengshi::gateway
