#include "ledger/ledger.h"

#include <pthread.h>

#include <condition_variable>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <utility>

#include "base/log.h"
#include "ledger/schema.h"

namespace hengshi::ledger {

namespace {

constexpr size_t kQueueLimit = 16'384;  // About 10 MB of records without text.
constexpr size_t kBatch = 512;
constexpr std::chrono::milliseconds kPeriod{50};  // What a kill -9 may lose.
constexpr std::chrono::minutes kLogPeriod{1};

class SqliteLedger final : public Ledger {
 public:
  SqliteLedger(Database database, Statement insert, Metrics& metrics)
      : dropped_(metrics.counter("hengshi_fail_open_total", "Requests served without a part that failed",
                                 {{"part", "ledger"}})),
        database_(std::move(database)),
        insert_(std::move(insert)) {
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
      if (queue_.empty()) continue;
      batch_.swap(queue_);
      taken_ += batch_.size();
      lock.unlock();
      for (std::span<const Record> rest = batch_; !rest.empty();) {
        const size_t n = std::min(kBatch, rest.size());
        write(rest.first(n));
        rest = rest.subspan(n);
      }
      batch_.clear();
      lock.lock();
      finished_ = taken_;
      done_.notify_all();
    }
  }

  void write(std::span<const Record> records) {
    const auto written = insert(records);
    if (written) return;
    dropped_.add(static_cast<int64_t>(records.size()));
    const auto now = std::chrono::steady_clock::now();
    if (logged_ && now - *logged_ < kLogPeriod) return;
    logged_ = now;
    log(LogLevel::kError, "ledger_write_failed",
        {{"reason", written.error().message}, {"dropped_total", std::to_string(dropped_.value())}});
  }

  // One transaction: all of them or none. After a failure the next batch simply tries again.
  Result<void> insert(std::span<const Record> records) {
    TRY_OK(database_.run("BEGIN"));
    for (const Record& record : records) {
      bind_record(insert_, record);
      const auto stepped = insert_.step();
      insert_.reset();
      if (!stepped) return roll_back(stepped.error());
    }
    if (auto committed = database_.run("COMMIT"); !committed) return roll_back(committed.error());
    return {};
  }

  Result<void> roll_back(Error error) {
    // A full disk has often rolled back already; then this says "no transaction", which is what we want.
    (void)database_.run("ROLLBACK");
    return tl::unexpected(std::move(error));
  }

  Counter& dropped_;
  std::mutex mutex_;
  std::condition_variable wake_, done_;
  std::vector<Record> queue_;
  uint64_t taken_ = 0, finished_ = 0, flush_to_ = 0;
  bool stopping_ = false;

  // The writer's own.
  std::vector<Record> batch_;
  Database database_;
  Statement insert_;  // After database_: finalised before it closes.
  std::optional<std::chrono::steady_clock::time_point> logged_;
  std::thread writer_;
};

}  // namespace

Result<std::unique_ptr<Ledger>> Ledger::open(const std::string& path, Metrics& metrics) {
  TRY(auto database, Database::open(path, Database::Mode::kWrite));
  // NORMAL: no fsync per commit; a process that dies loses nothing committed, a power cut the last moments.
  TRY_OK(database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"));
  TRY_OK(prepare_schema(database, path));
  TRY(auto insert, database.prepare(insert_sql()));
  return std::make_unique<SqliteLedger>(std::move(database), std::move(insert), metrics);
}

}  // namespace hengshi::ledger
