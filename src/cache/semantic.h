// semantic.h — entries by what their question meant: one flat index per partition.
//
// Shapes:  rows of int8[dim] and 512-bit codes by column.
// Units:   bytes include codes, vectors, entries and spare room of the arrays.
// Errors:  a row of another dimension than its partition's is not taken.
// Threads: nearest() from any thread; the rest from the one writer, who holds a partition for a push or a swap only.
// Source:  docs/decisions/0004-cache.md.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "cache/cache.h"
#include "cache/fair_mutex.h"
#include "cache/vector_code.h"

namespace hengshi::cache {

struct Row {
  EntryPtr entry;
  Quantised vector;
  mutable std::atomic<bool> used = false;  // since the eviction hand last passed
  size_t at = 0;                           // in its partition; the writer's
};
using RowPtr = std::shared_ptr<Row>;

struct Nearest {
  struct Candidate {
    std::shared_ptr<const Row> row;
    double similarity = 0;
  };
  std::vector<Candidate> candidates;  // at least the threshold, most similar first
  double best_similarity = 0;
  bool any = false;  // the partition has rows of this dimension
};

class Semantic {
 public:
  explicit Semantic(size_t max_bytes) : max_bytes_(max_bytes) {}

  Nearest nearest(const Digest& partition, const Quantised& query, double threshold, int64_t created_from_s) const;

  struct Left {
    std::vector<Digest> ids;
    bool taken = true;  // the new row is in
  };
  Left insert(EntryPtr entry, Quantised vector);  // replaces; gives back what had to leave
  bool erase(const Digest& id);
  std::vector<Digest> expire(int64_t created_before_s);
  std::vector<RowPtr> rows() const;                                      // next to be evicted first; writer only
  bool contains(const Digest& id) const { return by_id_.contains(id); }  // writer only
  size_t size() const { return size_.load(std::memory_order_relaxed); }
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  struct Partition {
    mutable FairMutex mutex;
    std::vector<Block> blocks;
    std::vector<RowPtr> rows;
    size_t capacity = 0;

    size_t bytes() const { return sizeof(Partition) + 128 + capacity * (sizeof(Code) + sizeof(RowPtr)); }
    void push(RowPtr row, const Code& code);
    void remove(size_t at);
    void resize(size_t wanted);
    Nearest nearest(const Quantised& query, const Code& code, double threshold, int64_t created_from_s) const;
  };
  using PartitionPtr = std::shared_ptr<Partition>;
  using Order = std::list<RowPtr>;

  PartitionPtr find(const Digest& partition) const;
  void remove(Order::iterator it);
  void evict(std::vector<Digest>& left);
  void account(const Partition& partition, size_t before);

  size_t max_bytes_;
  mutable FairMutex mutex_;  // of partitions_
  std::unordered_map<Digest, PartitionPtr, DigestHash> partitions_;
  Order order_;  // the clock of second-chance eviction
  std::unordered_map<Digest, Order::iterator, DigestHash> by_id_;
  std::atomic<size_t> size_ = 0, bytes_ = 0;
};

}  // namespace hengshi::cache
