#include "ledger/ledger.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "base/log.h"
#include "ledger/ledger_file.h"

namespace hengshi::ledger {

namespace {

constexpr size_t kQueueLimit = 16'384;  // About 10 MB of records without text.
constexpr size_t kBatch = 512;
constexpr std::chrono::milliseconds kPeriod{50};  // What a kill -9 may lose.
constexpr std::chrono::minutes kLogPeriod{1};
constexpr int64_t kEraseBatch = 512;
constexpr std::chrono::minutes kErasePeriod{1};  // once nothing old is left

class SqliteLedger final : public Ledger {
 public:
  SqliteLedger(const Options& options, LedgerFile file, Metrics& metrics)
      : dropped_(metrics.counter("hengshi_fail_open_total", "Requests served without a part that failed",
                                 {{"part", "ledger"}})),
        renewed_(metrics.counter("hengshi_ledger_renewed_total",
                                 "Times the ledger's file was made anew because it was gone")),
        path_(options.path),
        keep_(std::chrono::days(options.keep_days)),
        file_(std::move(file)) {
    queue_.reserve(kQueueLimit);  // Never grows under the lock; untouched pages cost nothing.
    batch_.reserve(kQueueLimit);
    writer_ = std::thread([this] { write_all(); });
  }

  ~SqliteLedger() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    writer_.join();
  }

  void append(Record record) override {
    std::unique_lock lock(mutex_);
    if (queue_.size() >= kQueueLimit) {
      lock.unlock();
      dropped_.add();
      return;
    }
    queue_.push_back(std::move(record));
    // A notify is a system call: once per batch is enough, the writer looks every kPeriod anyway.
    const bool wake = queue_.size() == kBatch;
    lock.unlock();
    if (wake) wake_.notify_one();
  }

  void flush() override {
    std::unique_lock lock(mutex_);
    const uint64_t wanted = taken_ + queue_.size();
    flush_to_ = std::max(flush_to_, wanted);
    wake_.notify_one();
    done_.wait(lock, [&] { return finished_ >= wanted; });
  }

 private:
  void write_all() {
    pthread_setname_np(pthread_self(), "ledger");
    std::unique_lock lock(mutex_);
    while (true) {
      wake_.wait_for(lock, kPeriod, [&] { return stopping_ || queue_.size() >= kBatch || flush_to_ > finished_; });
      if (queue_.empty() && stopping_) return;
      batch_.swap(queue_);
      taken_ += batch_.size();
      lock.unlock();
      if (!batch_.empty()) write_batch();
      if (keep_ > keep_.zero()) erase_old();
      lock.lock();
      finished_ = taken_;
      done_.notify_all();
    }
  }

  void write_batch() {
    if (!file_ || !file_->in_place()) renew_file();
    for (std::span<const Record> rest = batch_; !rest.empty();) {
      const size_t n = std::min(kBatch, rest.size());
      write(rest.first(n));
      rest = rest.subspan(n);
    }
    batch_.clear();
  }

  // Closed before a new one is opened: closing removes the write-ahead log that goes by the file's name.
  void renew_file() {
    const bool gone = file_.has_value();
    if (gone) {
      if (const auto kept = file_->write_log_back(); !kept) failed(kept.error());
    }
    file_.reset();
    auto opened = LedgerFile::open(path_);
    if (!opened) return failed(opened.error());
    file_ = std::move(*opened);
    renewed_.add();
    log(LogLevel::kWarn, "ledger_renewed",
        {{"path", path_}, {"why", gone ? "it was deleted or moved" : "it can be written again"}});
  }

  void write(std::span<const Record> records) {
    if (file_) {
      const auto written = file_->insert(records);
      if (written) return;
      failed(written.error());
    }
    dropped_.add(static_cast<int64_t>(records.size()));
  }

  void failed(const Error& error) {
    const auto now = std::chrono::steady_clock::now();
    if (logged_ && now - *logged_ < kLogPeriod) return;
    logged_ = now;
    log(LogLevel::kError, "ledger_write_failed", {{"reason", error.message}, {"dropped_total", dropped_.value()}});
  }

  // A few rows per round, so that nobody who reads or writes waits for it.
  void erase_old() {
    const auto now = std::chrono::steady_clock::now();
    if (!file_ || now < erase_at_) return;
    const auto before = std::chrono::system_clock::now().time_since_epoch() - keep_;
    const auto erased =
        file_->erase_before(std::chrono::duration_cast<std::chrono::microseconds>(before).count(), kEraseBatch);
    if (!erased) failed(erased.error());
    if (!erased || *erased < kEraseBatch) erase_at_ = now + kErasePeriod;
  }

  Counter& dropped_;
  Counter& renewed_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<Record> queue_;
  uint64_t taken_ = 0, finished_ = 0, flush_to_ = 0;
  bool stopping_ = false;

  // The writer's own.
  const std::string path_;
  const std::chrono::hours keep_;  // zero: for ever
  std::vector<Record> batch_;
  std::optional<LedgerFile> file_;
  std::chrono::steady_clock::time_point erase_at_ = std::chrono::steady_clock::time_point::min();
  std::optional<std::chrono::steady_clock::time_point> logged_;
  std::thread writer_;
};

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(const Options& options, Metrics& metrics) {
  TRY(auto file, LedgerFile::open(options.path));
  return std::make_unique<SqliteLedger>(options, std::move(file), metrics);
}

}  // namespace hengshi::ledger
