#include "nn/embedding_cache.h"

#include <algorithm>
#include <array>
#include <functional>
#include <list>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace hengshi::nn {

namespace {

constexpr size_t kShards = 16;
constexpr size_t kLongest = 512;   // bytes of a text; a longer one is hardly asked twice
constexpr size_t kOverhead = 160;  // bytes of list node, map node and bucket

class Shard {
 public:
  bool find(std::string_view text, std::span<float> out) {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(text);
    if (found == known_.end()) return false;
    found->second->asked_again = true;
    std::copy(found->second->vector.begin(), found->second->vector.end(), out.begin());
    return true;
  }

  void keep(std::string_view text, std::span<const float> vector, size_t bytes) {
    const size_t size = text.size() + vector.size_bytes() + kOverhead;
    if (size > bytes) return;
    const std::lock_guard lock(mutex_);
    if (known_.contains(text)) return;  // encoded by two at once
    while (held_ + size > bytes) evict();
    entries_.push_front({std::string(text), {vector.begin(), vector.end()}});
    known_.emplace(entries_.front().text, entries_.begin());
    held_ += size;
  }

 private:
  struct Entry {
    std::string text;
    std::vector<float> vector;
    bool asked_again = false;
  };

  // The hand goes from the oldest to the newest and takes the first that was not asked again since it came by.
  void evict() {
    for (;; --hand_) {
      if (hand_ == entries_.end()) hand_ = std::prev(entries_.end());
      if (!hand_->asked_again) break;
      hand_->asked_again = false;
      if (hand_ == entries_.begin()) hand_ = entries_.end();
    }
    const auto gone = hand_;
    hand_ = gone == entries_.begin() ? entries_.end() : std::prev(gone);
    held_ -= gone->text.size() + gone->vector.size() * sizeof(float) + kOverhead;
    known_.erase(gone->text);
    entries_.erase(gone);
  }

  std::mutex mutex_;
  std::list<Entry> entries_;  // the newest first
  std::list<Entry>::iterator hand_ = entries_.end();
  std::unordered_map<std::string_view, std::list<Entry>::iterator> known_;
  size_t held_ = 0;
};

class EmbeddingCache final : public Encoder {
 public:
  EmbeddingCache(std::unique_ptr<const Encoder> encoder, size_t bytes)
      : encoder_(std::move(encoder)), bytes_(bytes / kShards) {}

  const std::string& name() const override { return encoder_->name(); }
  const std::string& version() const override { return encoder_->version(); }
  bool verified() const override { return encoder_->verified(); }
  size_t dim() const override { return encoder_->dim(); }
  size_t max_tokens() const override { return encoder_->max_tokens(); }
  size_t vocabulary() const override { return encoder_->vocabulary(); }
  double semantic_threshold() const override { return encoder_->semantic_threshold(); }
  size_t memory_bytes() const override { return encoder_->memory_bytes() + bytes_ * kShards; }
  std::vector<int32_t> tokenize(std::string_view text) const override { return encoder_->tokenize(text); }
  size_t count_tokens(std::string_view text) const override { return encoder_->count_tokens(text); }
  void encode_ids(std::span<const int32_t> ids, std::span<float> out) const override { encoder_->encode_ids(ids, out); }

  void encode(std::string_view text, std::span<float> out) const override {
    if (text.size() > kLongest) return encoder_->encode(text, out);
    Shard& shard = shards_[std::hash<std::string_view>{}(text) % kShards];
    if (shard.find(text, out)) return;
    encoder_->encode(text, out);
    shard.keep(text, out, bytes_);
  }

 private:
  std::unique_ptr<const Encoder> encoder_;
  size_t bytes_;  // of a shard
  mutable std::array<Shard, kShards> shards_;
};

}  // namespace

std::unique_ptr<const Encoder> with_embedding_cache(std::unique_ptr<const Encoder> encoder, size_t bytes) {
  return std::make_unique<EmbeddingCache>(std::move(encoder), bytes);
}

}  // namespace hengshi::nn
