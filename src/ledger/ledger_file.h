// ledger_file.h — the SQLite file as its writer sees it: rows in, old rows out, and whether it is still where it was.
//
// Errors:  kInternal, naming the file and what to do; after one the file is as it was before the call.
// Threads: one owner.
// Source:  docs/ledger.md.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "ledger/database.h"
#include "ledger/ledger.h"

namespace hengshi::ledger {

class LedgerFile {
 public:
  // Makes what is missing: the folder, the file, the table.
  static Result<LedgerFile> open(const std::string& path);

  // False: it was deleted or moved, or another file has its name.
  bool in_place() const;
  // Writes what is still in the write-ahead log into the file, wherever that is now; closing does so only in its place.
  Result<void> write_log_back();
  // One transaction: all of them or none.
  Result<void> insert(std::span<const Record> records);
  // Deletes at most `limit` of the rows admitted before `at_us`, oldest first, never the newest row of all: row numbers
  // grow for as long as the file lives. Answers how many.
  Result<int64_t> erase_before(int64_t at_us, int64_t limit);

 private:
  LedgerFile(std::string path, Database database, Statement insert, Statement erase);
  Result<void> roll_back(Error error);

  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  Database database_;
  Statement insert_, erase_;  // After database_: finalised before it closes.
};

}  // namespace hengshi::ledger
