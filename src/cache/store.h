// store.h — the cache put together: two indexes, one writer, one file.
//
// Errors:  as cache.h.
// Threads: as cache.h. The writer thread is named "cache"; its queue is bounded, and full it drops and counts.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cache/cache.h"
#include "cache/exact.h"
#include "cache/instruments.h"
#include "cache/log_file.h"
#include "cache/semantic.h"

namespace hengshi::cache {

class Store final : public Cache {
 public:
  Store(Options options, const Clock& clock, Metrics& metrics);
  ~Store() override;
  Result<void> start();

  EntryPtr find(const Digest& id) const override;
  SemanticResult find_similar(const Digest& partition, std::string_view normalised_question,
                              std::span<const float> embedding, double threshold) const override;
  void insert(Entry entry, std::span<const float> embedding) override;
  void flush() override;
  Stats stats() const override;

 private:
  struct Job {
    EntryPtr entry;
    std::vector<float> embedding;
  };
  // What the log holds of an entry, and which index still holds the entry: none, and its record is garbage.
  struct Logged {
    size_t bytes = 0;
    bool exact = false, semantic = false;
  };

  EntryPtr find_queued(const Digest& id) const;
  int64_t now_s() const;
  int64_t oldest_alive_s() const { return now_s() - options_.ttl.count() + 1; }

  void run();
  void apply(std::vector<Job>& jobs);
  void index(EntryPtr entry, std::optional<Quantised> vector, size_t record_bytes);
  void forget(const std::vector<Digest>& ids, bool exact);
  void persist(const std::string& records);
  void expire();
  void compact();
  void set_gauges();

  const Options options_;
  const Clock& clock_;
  Instruments count_;

  Exact exact_;
  Semantic semantic_;
  std::unique_ptr<LogFile> log_;  // null: memory only
  std::unordered_map<Digest, Logged, DigestHash> logged_;
  size_t live_bytes_ = 0;
  size_t compact_above_ = 0;
  int64_t expired_at_s_ = 0;

  std::atomic<size_t> queued_ = 0;  // size of newest_, so that a lookup takes the lock only when there is something
  mutable std::mutex mutex_;        // of what follows
  std::unordered_map<Digest, EntryPtr, DigestHash> newest_;  // queued entries, found before the writer has them
  std::condition_variable work_, done_;
  std::deque<Job> queue_;
  size_t queued_bytes_ = 0;
  uint64_t taken_ = 0, finished_ = 0;
  bool sweep_ = false, stop_ = false;
  std::thread writer_;
};

}  // namespace hengshi::cache
