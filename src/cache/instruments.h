// instruments.h — what the cache counts.
//
// Threads: the registry's.
#pragma once

#include "base/metrics.h"

namespace hengshi::cache {

struct Instruments {
  explicit Instruments(Metrics& m)
      : exact_entries(m.gauge("hengshi_cache_entries", "Answers held", {{"kind", "exact"}})),
        semantic_entries(m.gauge("hengshi_cache_entries", "Answers held", {{"kind", "semantic"}})),
        exact_bytes(m.gauge("hengshi_cache_bytes", "Memory of the answers held", {{"kind", "exact"}})),
        semantic_bytes(m.gauge("hengshi_cache_bytes", "Memory of the answers held", {{"kind", "semantic"}})),
        log_bytes(m.gauge("hengshi_cache_log_bytes", "Size of the cache's file")),
        inserted(m.counter("hengshi_cache_inserted_total", "Answers taken in")),
        dropped(m.counter("hengshi_cache_dropped_total", "Answers not taken because the writer's queue was full")),
        evicted_exact(evicted(m, "exact", "bytes")),
        evicted_semantic(evicted(m, "semantic", "bytes")),
        expired_exact(evicted(m, "exact", "ttl")),
        expired_semantic(evicted(m, "semantic", "ttl")),
        corrupt(m.counter("hengshi_cache_corrupt_total", "Torn or corrupt stretches skipped in the cache's file")),
        rewrites(m.counter("hengshi_cache_rewrites_total", "Times the cache's file was compacted")),
        fail_open(m.counter("hengshi_fail_open_total", "Times a part failed and the request went on without it",
                            {{"part", "cache"}})) {}

  static Counter& evicted(Metrics& m, const char* kind, const char* reason) {
    return m.counter("hengshi_cache_evicted_total", "Answers that left", {{"kind", kind}, {"reason", reason}});
  }

  Gauge &exact_entries, &semantic_entries, &exact_bytes, &semantic_bytes, &log_bytes;
  Counter &inserted, &dropped, &evicted_exact, &evicted_semantic, &expired_exact, &expired_semantic, &corrupt,
      &rewrites, &fail_open;
};

}  // namespace hengshi::cache
