// cache.h — earlier answers: found by an equal request, or by a question that meant the same.
//
// Shapes:  embedding f32[dim], L2 norm 1.
// Units:   similarity cosine; ttl and age in seconds; sizes in bytes.
// Errors:  open() refuses a store of another version with the command to run; a torn or corrupt entry is skipped and
//          counted, never returned; a write that fails is counted and the entry lives in memory only.
// Threads: find from any thread; insert from any thread is queued to one writer, which also persists.
// Source:  docs/decisions/0004-cache.md.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/digest.h"
#include "base/metrics.h"
#include "base/result.h"

namespace hengshi::cache {

struct Options {
  std::string directory;  // empty: memory only
  size_t exact_bytes = size_t{64} << 20;
  size_t semantic_bytes = size_t{64} << 20;
  std::chrono::seconds ttl{86'400};
};

// What is kept, opaque to the cache but for its sizes.
struct Entry {
  Digest id{};           // of tenant, scope, fingerprint and question: also the exact key
  Digest partition{};    // of tenant, scope, fingerprint and encoder: semantic search stays inside
  std::string question;  // normalised
  std::string model;     // that answered
  std::string payload;
  int64_t created_s = 0;  // Unix seconds
};
using EntryPtr = std::shared_ptr<const Entry>;

struct SemanticHit {
  EntryPtr entry;
  double similarity = 0;
};

// Why the best candidate was refused, for the record: "threshold" or the guard (text/guards.h).
struct SemanticResult {
  std::optional<SemanticHit> hit;
  double best_similarity = 0;
  std::string_view refused_by;
};

class Cache {
 public:
  static Result<std::unique_ptr<Cache>> open(Options options, const Clock& clock, Metrics& metrics);
  virtual ~Cache() = default;

  virtual EntryPtr find(const Digest& id) const = 0;
  virtual SemanticResult find_similar(const Digest& partition, std::string_view normalised_question,
                                      std::span<const float> embedding, double threshold) const = 0;
  // `embedding` empty: exact only. find() sees it at once, find_similar() once the writer took it, at the latest after
  // flush().
  virtual void insert(Entry entry, std::span<const float> embedding) = 0;
  virtual void flush() = 0;  // waits until all queued inserts are visible and on disk

  struct Stats {
    size_t exact_entries = 0, exact_bytes = 0, semantic_entries = 0, semantic_bytes = 0, skipped_corrupt = 0;
  };
  virtual Stats stats() const = 0;
};

}  // namespace hengshi::cache
