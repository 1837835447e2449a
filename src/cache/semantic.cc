#include "cache/semantic.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "cache/exact.h"

namespace hengshi::cache {

namespace {

constexpr size_t kRerank = 32;
constexpr size_t kChunkBlocks = 64;  // distances of 512 codes at a time stay in the first-level cache

// The kRerank nearest codes, by a buffer that is cut back whenever it fills.
class Shortlist {
 public:
  void offer(uint16_t distance, size_t row) {
    if (distance >= limit_) return;
    buffer_[size_++] = static_cast<uint64_t>(distance) << 32 | row;
    if (size_ == buffer_.size()) cut();
  }
  std::span<const uint64_t> finish() {
    if (size_ > kRerank) cut();
    return {buffer_.data(), size_};
  }

 private:
  void cut() {
    std::nth_element(buffer_.begin(), buffer_.begin() + kRerank - 1, buffer_.begin() + static_cast<ptrdiff_t>(size_));
    size_ = kRerank;
    limit_ = static_cast<uint16_t>(buffer_[kRerank - 1] >> 32);
  }
  std::array<uint64_t, kRerank * 6> buffer_;
  size_t size_ = 0;
  uint16_t limit_ = kCodeWords * 64 + 1;
};

size_t row_bytes(const Row& row) {
  constexpr size_t kNodes = 160;  // list and hash nodes, control block, allocator
  return sizeof(Row) + kNodes + row.vector.values.capacity() + entry_bytes(*row.entry);
}

size_t blocks_for(size_t rows) { return (rows + kBlockCodes - 1) / kBlockCodes; }

void put_code(std::vector<Block>& blocks, size_t at, const Code& code) {
  Block& block = blocks[at / kBlockCodes];
  for (size_t w = 0; w < kCodeWords; ++w) block.words[w * kBlockCodes + at % kBlockCodes] = code[w];
}

Code get_code(const std::vector<Block>& blocks, size_t at) {
  Code code;
  const Block& block = blocks[at / kBlockCodes];
  for (size_t w = 0; w < kCodeWords; ++w) code[w] = block.words[w * kBlockCodes + at % kBlockCodes];
  return code;
}

}  // namespace

// Copies aside and swaps: readers wait for the swap, not for the copy.
void Semantic::Partition::resize(size_t wanted) {
  const size_t new_capacity = std::max(size_t{1}, blocks_for(wanted)) * kBlockCodes;
  std::vector<Block> more_blocks;
  more_blocks.reserve(blocks_for(new_capacity));
  more_blocks.assign(blocks.begin(), blocks.begin() + static_cast<ptrdiff_t>(blocks_for(rows.size())));
  more_blocks.resize(blocks_for(new_capacity));
  std::vector<RowPtr> more_rows;
  more_rows.reserve(new_capacity);
  more_rows.assign(rows.begin(), rows.end());
  const std::lock_guard lock(mutex);
  blocks.swap(more_blocks);
  rows.swap(more_rows);
  capacity = new_capacity;
}

void Semantic::Partition::push(RowPtr row, const Code& code) {
  if (rows.size() == capacity) resize(capacity + capacity / 2);
  row->at = rows.size();
  const std::lock_guard lock(mutex);
  put_code(blocks, rows.size(), code);
  rows.push_back(std::move(row));
}

void Semantic::Partition::remove(size_t at) {
  RowPtr gone;  // freed behind the lock
  {
    const std::lock_guard lock(mutex);
    put_code(blocks, at, get_code(blocks, rows.size() - 1));
    gone = std::exchange(rows[at], std::move(rows.back()));
    rows.pop_back();
    if (at < rows.size()) rows[at]->at = at;
  }
  if (capacity > kBlockCodes && rows.size() < capacity / 3) resize(capacity / 2);
}

Nearest Semantic::Partition::nearest(const Quantised& query, const Code& code, double threshold,
                                     int64_t created_from_s) const {
  const Kernels& k = kernels();
  Nearest result;
  const std::shared_lock lock(mutex);
  if (rows.empty() || rows[0]->vector.values.size() != query.values.size()) return result;
  Shortlist shortlist;
  std::array<uint16_t, kChunkBlocks * kBlockCodes> distances;
  for (size_t from = 0; from < rows.size(); from += distances.size()) {
    const size_t n = std::min(distances.size(), rows.size() - from);
    k.distances(&blocks[from / kBlockCodes], blocks_for(n), code.data(), distances.data());
    for (size_t i = 0; i < n; ++i) shortlist.offer(distances[i], from + i);
  }
  result.best_similarity = -1;
  for (const uint64_t packed : shortlist.finish()) {
    const RowPtr& row = rows[static_cast<uint32_t>(packed)];
    if (row->entry->created_s < created_from_s) continue;
    const int32_t dot = k.dot(row->vector.values.data(), query.values.data(), query.values.size());
    const double similarity = std::min(1.0, static_cast<double>(dot) * row->vector.scale * query.scale);
    result.any = true;
    result.best_similarity = std::max(result.best_similarity, similarity);
    if (similarity >= threshold) result.candidates.push_back({row, similarity});
  }
  if (!result.any) result.best_similarity = 0;
  return result;
}

Semantic::PartitionPtr Semantic::find(const Digest& partition) const {
  const std::shared_lock lock(mutex_);
  const auto it = partitions_.find(partition);
  return it == partitions_.end() ? nullptr : it->second;
}

Nearest Semantic::nearest(const Digest& partition, const Quantised& query, double threshold,
                          int64_t created_from_s) const {
  const PartitionPtr p = find(partition);
  if (!p) return {};
  Nearest result = p->nearest(query, sign_code(query.values), threshold, created_from_s);
  std::sort(result.candidates.begin(), result.candidates.end(),
            [](const auto& a, const auto& b) { return a.similarity > b.similarity; });
  return result;
}

void Semantic::account(const Partition& partition, size_t before) { bytes_ += partition.bytes() - before; }

Semantic::Left Semantic::insert(EntryPtr entry, Quantised vector) {
  erase(entry->id);
  const Digest home = entry->partition;
  PartitionPtr p = find(home);
  if (p && !p->rows.empty() && p->rows[0]->vector.values.size() != vector.values.size()) return {{}, false};
  const Code code = sign_code(vector.values);
  const auto row = std::make_shared<Row>();
  row->entry = std::move(entry);
  row->vector = std::move(vector);
  if (row_bytes(*row) + sizeof(Partition) > max_bytes_) return {{}, false};
  if (!p) {
    p = std::make_shared<Partition>();
    bytes_ += p->bytes();
    const std::lock_guard lock(mutex_);
    partitions_[home] = p;
  }
  const size_t before = p->bytes();
  p->push(row, code);
  account(*p, before);
  bytes_ += row_bytes(*row);
  ++size_;
  by_id_[row->entry->id] = order_.insert(order_.end(), row);
  Left left;
  evict(left.ids);
  left.taken = by_id_.contains(row->entry->id);
  return left;
}

// Second chance: a row used since the hand last passed goes round once more.
void Semantic::evict(std::vector<Digest>& left) {
  while (bytes_ > max_bytes_ && !order_.empty()) {
    const auto first = order_.begin();
    if ((*first)->used.exchange(false)) {
      order_.splice(order_.end(), order_, first);
      continue;
    }
    left.push_back((*first)->entry->id);
    remove(first);
  }
}

void Semantic::remove(Order::iterator it) {
  const RowPtr row = *it;
  const PartitionPtr p = find(row->entry->partition);
  const size_t before = p->bytes();
  p->remove(row->at);
  account(*p, before);
  bytes_ -= row_bytes(*row);
  --size_;
  by_id_.erase(row->entry->id);
  order_.erase(it);
  if (!p->rows.empty()) return;
  bytes_ -= p->bytes();
  const std::lock_guard lock(mutex_);
  partitions_.erase(row->entry->partition);
}

bool Semantic::erase(const Digest& id) {
  const auto it = by_id_.find(id);
  if (it == by_id_.end()) return false;
  remove(it->second);
  return true;
}

std::vector<Digest> Semantic::expire(int64_t created_before_s) {
  std::vector<Digest> left;
  for (auto it = order_.begin(); it != order_.end();) {
    const auto at = it++;
    if ((*at)->entry->created_s >= created_before_s) continue;
    left.push_back((*at)->entry->id);
    remove(at);
  }
  return left;
}

std::vector<RowPtr> Semantic::rows() const { return {order_.begin(), order_.end()}; }

}  // namespace hengshi::cache
