// ledger.h — one record per request: how it was answered, how long each step took, what it cost.
//
// Units:   times in µs; cost in micro-USD.
// Errors:  open() says why; later failures (disk full) are counted in fail_open_total{part="ledger"}, never block a
//          request. A file that was deleted or moved is made anew, and counted in ledger_renewed_total.
// Threads: append() from any thread (a bounded queue to one writer thread named "ledger"); queries from any thread.
// Source:  docs/ledger.md describes the table.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "base/result.h"

namespace hengshi::ledger {

struct Record {
  int64_t at_us = 0;  // Unix µs at admission
  std::string request_id;
  std::string tenant;
  std::string route;
  std::string path;      // cache.exact, …, cloud, degraded.3, unanswered, error
  std::string model;     // that answered
  std::string versions;  // "rules=ab12 light.zh=cd34 encoder.zh=…"
  std::string reasons;   // "semantic:number light:0.41<0.62", one word per step that passed
  std::string language;
  std::string intent;
  std::string question;  // empty unless the config records text
  std::string answer;    // likewise
  int status = 200;
  bool stream = false;
  std::optional<double> confidence;
  std::optional<double> threshold;
  int64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0, saved_tokens = 0;
  bool estimated = false;
  int64_t cost_micro_usd = 0;
  int64_t parse_us = 0, exact_us = 0, encode_us = 0, semantic_us = 0, rules_us = 0, light_us = 0, upstream_us = 0,
          first_token_us = 0, total_us = 0;
};

struct Options {
  std::string path;
  int keep_days = 0;  // older rows are deleted, a few at a time; 0: never
};

class Ledger {
 public:
  static Result<std::unique_ptr<Ledger>> open(const Options& options, Metrics& metrics);
  virtual ~Ledger() = default;  // writes what is queued
  virtual void append(Record record) = 0;
  virtual void flush() = 0;
};

// Read side, for the CLI: opens the file read-only beside a running server.
struct PathStats {
  std::string path;
  int64_t requests = 0;
  double share = 0, mean_ms = 0, p50_ms = 0, p95_ms = 0, p99_ms = 0;
  int64_t cost_micro_usd = 0, saved_tokens = 0;
};
Result<std::vector<PathStats>> stats(const std::string& path, std::chrono::seconds window);
// Newest last; `after_row` 0, or of a file that was here before: the last `limit`. Returns the last row id seen through `last_row` of the result.
struct Tail {
  std::vector<Record> records;
  int64_t last_row = 0;
};
Result<Tail> tail(const std::string& path, int64_t after_row, int limit);

}  // namespace hengshi::ledger
