// visit.h — one request's life from admission to its record: identity, snapshot, clock, and what is known so far.
//
// Threads: lives in serve()'s frame, on one loop.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/chat.h"
#include "cache/cache.h"
#include "gateway/path.h"
#include "gateway/snapshot.h"
#include "gateway/worker.h"
#include "io/server.h"
#include "ledger/ledger.h"
#include "route/route.h"
#include "text/text.h"

namespace hengshi::gateway {

class Visit {
 public:
  Visit(Worker& worker, io::Exchange& exchange);
  Visit(const Visit&) = delete;
  Visit& operator=(const Visit&) = delete;

  Worker& worker;
  io::Exchange& exchange;
  const SnapshotPtr snapshot;
  const Monotonic started;
  const int64_t created_s;  // Unix seconds, for the body
  std::string decision;     // our own id; names the record
  std::string request_id;   // the client's, else "req-" + decision
  const Key* key = nullptr;
  RateState rates;
  ledger::Record record;

  int64_t micros_since(Monotonic from) const;
  int64_t elapsed_us() const { return micros_since(started); }
  // "step:why" into the record's reasons.
  void because(std::string_view step, std::string_view why);
};

// A request that was let in.
struct Ask {
  api::ChatRequest request;
  std::shared_ptr<const Route> route;
  route::Plan plan;
  text::Language language = text::Language::kOther;
  std::string scope;  // tenant and user, or tenant alone
  Digest exact_id{};
  std::string normalised;  // of the question; empty until weighed
  std::optional<std::chrono::milliseconds> client_deadline;
  io::Deadline total{Monotonic{}};
  io::Deadline first_answer{Monotonic{}};
};

// What is sent.
struct Answer {
  Path path = Path::kCloud;
  api::Completion completion;
  std::string decided_by;  // model of the tier: "light/demo@ab12", "rule/hello"; of the cache: the stored model
  std::optional<double> confidence;
  std::optional<double> threshold;
  std::string_view asks;  // the slot that the light model's answer asks for; owned by the snapshot
  std::optional<int64_t> cache_age_s;
  std::string_view degraded;  // reason; empty when not
  int64_t saved_tokens = 0;
  int64_t cost_micro_usd = 0;
};

}  // namespace hengshi::gateway
