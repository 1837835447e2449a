#include "cache/exact.h"

#include <algorithm>

namespace hengshi::cache {

namespace {

constexpr size_t kMostShards = 16;
constexpr size_t kBytesPerShard = size_t{1} << 20;
constexpr size_t kOverhead = 160;  // list and hash nodes, control block, allocator

}  // namespace

size_t entry_bytes(const Entry& entry) {
  return sizeof(Entry) + kOverhead + entry.question.capacity() + entry.model.capacity() + entry.payload.capacity();
}

Exact::Exact(size_t max_bytes) {
  const size_t n = std::clamp(max_bytes / kBytesPerShard, size_t{1}, kMostShards);
  for (size_t i = 0; i < n; ++i) shards_.push_back(std::make_unique<Shard>());
  max_shard_bytes_ = max_bytes / n;
}

void Exact::Shard::erase(std::list<EntryPtr>::iterator it) {
  bytes -= entry_bytes(**it);
  by_id.erase((*it)->id);
  order.erase(it);
}

EntryPtr Exact::find(const Digest& id) const {
  Shard& s = shard(id);
  const std::lock_guard lock(s.mutex);
  const auto it = s.by_id.find(id);
  if (it == s.by_id.end()) return nullptr;
  s.order.splice(s.order.begin(), s.order, it->second);
  return *it->second;
}

std::vector<Digest> Exact::insert(EntryPtr entry) {
  Shard& s = shard(entry->id);
  const size_t size = entry_bytes(*entry);
  std::vector<Digest> left;
  const std::lock_guard lock(s.mutex);
  if (const auto old = s.by_id.find(entry->id); old != s.by_id.end()) s.erase(old->second);
  if (size > max_shard_bytes_) return {entry->id};
  while (s.bytes + size > max_shard_bytes_) {
    left.push_back(s.order.back()->id);
    s.erase(std::prev(s.order.end()));
  }
  s.order.push_front(std::move(entry));
  s.by_id[s.order.front()->id] = s.order.begin();
  s.bytes += size;
  return left;
}

std::vector<Digest> Exact::expire(int64_t created_before_s) {
  std::vector<Digest> left;
  for (const auto& s : shards_) {
    const std::lock_guard lock(s->mutex);
    for (auto it = s->order.begin(); it != s->order.end();) {
      const auto at = it++;
      if ((*at)->created_s >= created_before_s) continue;
      left.push_back((*at)->id);
      s->erase(at);
    }
  }
  return left;
}

std::vector<EntryPtr> Exact::entries() const {
  std::vector<EntryPtr> all;
  for (const auto& s : shards_) {
    const std::lock_guard lock(s->mutex);
    all.insert(all.end(), s->order.rbegin(), s->order.rend());
  }
  return all;
}

size_t Exact::size() const {
  size_t n = 0;
  for (const auto& s : shards_) {
    const std::lock_guard lock(s->mutex);
    n += s->by_id.size();
  }
  return n;
}

size_t Exact::bytes() const {
  size_t n = 0;
  for (const auto& s : shards_) {
    const std::lock_guard lock(s->mutex);
    n += s->bytes;
  }
  return n;
}

}  // namespace hengshi::cache
