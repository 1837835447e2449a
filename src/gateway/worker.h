// worker.h — one loop's share of the gateway: the endpoints, on the stores that all loops share.
//
// Errors:  every failure leaves as an OpenAI error body with x-request-id.
// Threads: Shared is used by all loops; a Worker on its own loop only.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/models.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/metrics.h"
#include "cache/cache.h"
#include "gateway/instruments.h"
#include "gateway/snapshot.h"
#include "gateway/tenant.h"
#include "io/compute_pool.h"
#include "io/http_client.h"
#include "io/server.h"
#include "ledger/ledger.h"

namespace hengshi::gateway {

struct Settings {
  bool record_text = false;  // question and answer go to the ledger
  std::string version;
  std::optional<Digest> metrics_key;  // SHA-256 of the key that /metrics asks for; none: it asks for none
};

// What the composition root built; outlives every Worker.
struct Shared {
  Snapshots& snapshots;
  cache::Cache& cache;
  ledger::Ledger& ledger;
  io::ComputePool& pool;
  Limits& limits;
  Metrics& metrics;
  const Clock& clock;
  Settings settings;
  std::atomic<bool>& draining;
};

class Worker {
 public:
  Worker(Shared& shared, io::EventLoop& loop);
  io::Task<void> handle(io::Exchange& exchange);

  Shared& shared() { return shared_; }
  io::HttpClient& client() { return *client_; }
  Instruments& instruments() { return instruments_; }

 private:
  Shared& shared_;
  std::unique_ptr<io::HttpClient> client_;
  Instruments instruments_;
};

// For io::Server.
io::HandlerFactory make_handlers(Shared& shared);

// The models a client may name, aliases and upstreams' own.
std::vector<api::ModelCard> model_cards(const Snapshot& snapshot);

}  // namespace hengshi::gateway
