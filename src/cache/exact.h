// exact.h — entries by their id, least recently used out first.
//
// Units:   bytes as entry_bytes() counts them.
// Threads: find() from any thread; the rest from the one writer.
#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cache/cache.h"

namespace hengshi::cache {

size_t entry_bytes(const Entry& entry);

class Exact {
 public:
  explicit Exact(size_t max_bytes);

  EntryPtr find(const Digest& id) const;
  std::vector<Digest> insert(EntryPtr entry);  // replaces; gives back what had to leave
  std::vector<Digest> expire(int64_t created_before_s);
  std::vector<EntryPtr> entries() const;  // oldest use first within a shard
  size_t size() const;
  size_t bytes() const;

 private:
  struct Shard {
    mutable std::mutex mutex;
    std::list<EntryPtr> order;  // newest use first
    std::unordered_map<Digest, std::list<EntryPtr>::iterator, DigestHash> by_id;
    size_t bytes = 0;
    void erase(std::list<EntryPtr>::iterator it);
  };
  Shard& shard(const Digest& id) const { return *shards_[id.back() % shards_.size()]; }

  std::vector<std::unique_ptr<Shard>> shards_;
  size_t max_shard_bytes_;
};

}  // namespace hengshi::cache
