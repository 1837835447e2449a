#include "ledger/ledger_file.h"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "ledger/schema.h"

namespace hengshi::ledger {

Result<LedgerFile> LedgerFile::open(const std::string& path) {
  if (const auto folder = std::filesystem::path(path).parent_path(); !folder.empty()) {
    std::error_code error;  // The database says what cannot be opened, and what to do.
    std::filesystem::create_directories(folder, error);
  }
  TRY(auto database, Database::open(path, Database::Mode::kWrite));
  // NORMAL: no fsync per commit; a process that dies loses nothing committed, a power cut the last moments.
  TRY_OK(database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"));
  TRY_OK(prepare_schema(database, path));
  TRY(auto insert, database.prepare(insert_sql()));
  TRY(auto erase, database.prepare(erase_sql()));
  return LedgerFile(path, std::move(database), std::move(insert), std::move(erase));
}

LedgerFile::LedgerFile(std::string path, Database database, Statement insert, Statement erase)
    : path_(std::move(path)), database_(std::move(database)), insert_(std::move(insert)), erase_(std::move(erase)) {
  struct stat status{};
  if (::stat(path_.c_str(), &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
}

bool LedgerFile::in_place() const {
  struct stat status{};
  return ::stat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

Result<void> LedgerFile::write_log_back() { return database_.run("PRAGMA wal_checkpoint(TRUNCATE)"); }

Result<void> LedgerFile::insert(std::span<const Record> records) {
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

Result<int64_t> LedgerFile::erase_before(int64_t at_us, int64_t limit) {
  erase_.bind(1, at_us);
  erase_.bind(2, limit);
  const auto stepped = erase_.step();
  erase_.reset();
  if (!stepped) return tl::unexpected(stepped.error());
  return database_.changes();
}

Result<void> LedgerFile::roll_back(Error error) {
  database_.roll_back();
  return tl::unexpected(std::move(error));
}

}  // namespace hengshi::ledger
