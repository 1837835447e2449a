#include "cache/store.h"

#include <pthread.h>

#include <algorithm>
#include <utility>

#include "text/guards.h"

namespace hengshi::cache {

namespace {

constexpr size_t kMaxQueue = 4096;
constexpr size_t kMaxQueueBytes = size_t{32} << 20;
constexpr size_t kSmallLog = size_t{1} << 20;  // not worth compacting
constexpr int64_t kSweepEvery_s = 60;

size_t job_bytes(const Entry& entry, size_t dim) { return entry_bytes(entry) + dim * sizeof(float); }

Record record_of(const Entry& entry, const Quantised* vector) {
  Record r{entry.id, entry.partition, entry.created_s, entry.question, entry.model, entry.payload};
  if (vector != nullptr) r.scale = vector->scale, r.values = vector->values;
  return r;
}

EntryPtr entry_of(const Record& r) {
  auto entry = std::make_shared<Entry>();
  entry->id = r.id;
  entry->partition = r.partition;
  entry->created_s = r.created_s;
  entry->question = r.question;
  entry->model = r.model;
  entry->payload = r.payload;
  return entry;
}

}  // namespace

Store::Store(Options options, const Clock& clock, Metrics& metrics)
    : options_(std::move(options)),
      clock_(clock),
      count_(metrics),
      exact_(options_.exact_bytes),
      semantic_(options_.semantic_bytes) {}

Store::~Store() {
  if (!writer_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_one();
  writer_.join();
}

Result<void> Store::start() {
  if (!options_.directory.empty()) {
    const int64_t oldest = oldest_alive_s();
    const auto load = [&](const Record& r, size_t bytes) {
      if (r.created_s < oldest) return;
      std::optional<Quantised> vector;
      if (!r.values.empty()) vector = Quantised{{r.values.begin(), r.values.end()}, r.scale};
      index(entry_of(r), std::move(vector), bytes);
    };
    TRY(LogFile::Opened opened, LogFile::open(options_.directory, load));
    log_ = std::move(opened.file);
    count_.corrupt.add(static_cast<int64_t>(opened.skipped));
    compact();
  }
  set_gauges();
  writer_ = std::thread([this] { run(); });
  return {};
}

int64_t Store::now_s() const {
  return std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
}

EntryPtr Store::find(const Digest& id) const {
  EntryPtr entry = find_queued(id);
  if (!entry) entry = exact_.find(id);
  if (entry && entry->created_s < oldest_alive_s()) return nullptr;
  return entry;
}

EntryPtr Store::find_queued(const Digest& id) const {
  if (queued_.load(std::memory_order_acquire) == 0) return nullptr;
  const std::lock_guard lock(mutex_);
  const auto it = newest_.find(id);
  return it == newest_.end() ? nullptr : it->second;
}

SemanticResult Store::find_similar(const Digest& partition, std::string_view normalised_question,
                                   std::span<const float> embedding, double threshold) const {
  SemanticResult result;
  const auto query = quantise(embedding);
  if (!query) return result;
  const Nearest nearest = semantic_.nearest(partition, *query, threshold, oldest_alive_s());
  result.best_similarity = nearest.best_similarity;
  if (nearest.candidates.empty()) {
    if (nearest.any) result.refused_by = "threshold";
    return result;
  }
  const text::GuardFacts asked = text::guard_facts(normalised_question);
  for (const auto& [row, similarity] : nearest.candidates) {
    const std::string_view guard = text::refuse(asked, text::guard_facts(row->entry->question));
    if (guard.empty()) {
      row->used.store(true, std::memory_order_relaxed);
      result.hit = SemanticHit{row->entry, similarity};
      result.refused_by = {};
      return result;
    }
    if (result.refused_by.empty()) result.refused_by = guard;
  }
  return result;
}

void Store::insert(Entry entry, std::span<const float> embedding) {
  if (entry.created_s == 0) entry.created_s = now_s();
  const size_t bytes = job_bytes(entry, embedding.size());
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() >= kMaxQueue || queued_bytes_ + bytes > kMaxQueueBytes) {
      count_.dropped.add();
      count_.fail_open.add();
      return;
    }
    auto kept = std::make_shared<const Entry>(std::move(entry));
    newest_[kept->id] = kept;
    queued_.store(newest_.size(), std::memory_order_release);
    queue_.push_back({std::move(kept), {embedding.begin(), embedding.end()}});
    queued_bytes_ += bytes;
    ++taken_;
  }
  work_.notify_one();
}

void Store::flush() {
  std::unique_lock lock(mutex_);
  sweep_ = true;
  const uint64_t until = ++taken_;  // the sweep counts as one
  work_.notify_one();
  done_.wait(lock, [&] { return finished_ >= until; });
}

Cache::Stats Store::stats() const {
  return {exact_.size(), exact_.bytes(), semantic_.size(), semantic_.bytes(),
          static_cast<size_t>(count_.corrupt.value())};
}

void Store::run() {
  pthread_setname_np(pthread_self(), "cache");
  for (;;) {
    std::vector<Job> jobs;
    uint64_t upto = 0;
    bool sweep = false;
    {
      std::unique_lock lock(mutex_);
      work_.wait(lock, [&] { return stop_ || sweep_ || !queue_.empty(); });
      if (stop_ && queue_.empty()) return;
      jobs.assign(std::make_move_iterator(queue_.begin()), std::make_move_iterator(queue_.end()));
      queue_.clear();
      queued_bytes_ = 0;
      sweep = std::exchange(sweep_, false);
      upto = taken_;
    }
    apply(jobs);
    if (sweep || now_s() - expired_at_s_ >= kSweepEvery_s) expire();
    compact();
    set_gauges();
    {
      const std::lock_guard lock(mutex_);
      finished_ = upto;
      for (const Job& job : jobs) {
        const auto it = newest_.find(job.entry->id);
        if (it != newest_.end() && it->second == job.entry) newest_.erase(it);
      }
      queued_.store(newest_.size(), std::memory_order_release);
    }
    done_.notify_all();
  }
}

void Store::apply(std::vector<Job>& jobs) {
  std::string records;
  for (Job& job : jobs) {
    auto vector = quantise(job.embedding);
    if (!vector && !job.embedding.empty()) count_.fail_open.add();  // not a number: found by its id only
    const Record record = record_of(*job.entry, vector ? &*vector : nullptr);
    const size_t bytes = record_bytes(record);
    if (bytes > kMaxRecordBytes) {
      count_.dropped.add();
      continue;
    }
    if (log_) append_record(records, record, log_->seed());
    index(job.entry, std::move(vector), bytes);
    count_.inserted.add();
  }
  if (!records.empty()) persist(records);
}

void Store::index(EntryPtr entry, std::optional<Quantised> vector, size_t record_bytes) {
  const Digest id = entry->id;
  Logged& logged = logged_[id];
  live_bytes_ += record_bytes - logged.bytes;
  logged = {record_bytes, true, vector.has_value()};
  const std::vector<Digest> left = exact_.insert(entry);
  count_.evicted_exact.add(static_cast<int64_t>(left.size()));
  if (vector) {
    Semantic::Left gone = semantic_.insert(entry, *std::move(vector));
    count_.evicted_semantic.add(static_cast<int64_t>(gone.ids.size()));
    if (!gone.taken) gone.ids.push_back(id);
    forget(gone.ids, false);
  } else {
    semantic_.erase(id);
  }
  forget(left, true);
}

void Store::forget(const std::vector<Digest>& ids, bool exact) {
  for (const Digest& id : ids) {
    const auto it = logged_.find(id);
    if (it == logged_.end()) continue;
    (exact ? it->second.exact : it->second.semantic) = false;
    if (it->second.exact || it->second.semantic) continue;
    live_bytes_ -= it->second.bytes;
    logged_.erase(it);
  }
}

void Store::persist(const std::string& records) {
  if (!log_->append(records)) count_.fail_open.add();
}

void Store::expire() {
  const int64_t oldest = oldest_alive_s();
  expired_at_s_ = now_s();
  const std::vector<Digest> exact = exact_.expire(oldest), semantic = semantic_.expire(oldest);
  count_.expired_exact.add(static_cast<int64_t>(exact.size()));
  count_.expired_semantic.add(static_cast<int64_t>(semantic.size()));
  forget(exact, true);
  forget(semantic, false);
}

void Store::compact() {
  if (!log_ || log_->size() <= std::max(kSmallLog, compact_above_) || live_bytes_ * 2 > log_->size()) return;
  const std::vector<EntryPtr> exact = exact_.entries();
  const std::vector<RowPtr> rows = semantic_.rows();
  size_t i = 0, j = 0;
  const bool written = log_->rewrite([&](std::string& out, uint64_t seed) {
    if (i < exact.size()) {
      const Entry& entry = *exact[i++];
      if (!semantic_.contains(entry.id)) append_record(out, record_of(entry, nullptr), seed);
    } else if (j < rows.size()) {
      append_record(out, record_of(*rows[j]->entry, &rows[j]->vector), seed);
      ++j;
    }
    return i < exact.size() || j < rows.size();
  });
  // A disk that did not take it is asked again once there is more to win.
  compact_above_ = written ? 0 : log_->size() * 2;
  (written ? count_.rewrites : count_.fail_open).add();
}

void Store::set_gauges() {
  const Stats now = stats();
  count_.exact_entries.set(static_cast<int64_t>(now.exact_entries));
  count_.exact_bytes.set(static_cast<int64_t>(now.exact_bytes));
  count_.semantic_entries.set(static_cast<int64_t>(now.semantic_entries));
  count_.semantic_bytes.set(static_cast<int64_t>(now.semantic_bytes));
  count_.log_bytes.set(log_ ? static_cast<int64_t>(log_->size()) : 0);
}

}  // namespace hengshi::cache
