// database.h — the few SQLite calls this room makes, as Results.
//
// Errors:  kInternal with SQLite's message and the file's path in `param`.
// Threads: a Database and its Statements belong to one thread.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hengshi::ledger {

class Statement {
 public:
  // Bound text must outlive the step.
  void bind(int at, std::string_view text);
  void bind(int at, int64_t number);
  void bind(int at, double number);
  void bind_null(int at);
  // True: a row is there. False: done.
  Result<bool> step();
  void reset() { sqlite3_reset(raw_.get()); }

  std::string text(int column) const;
  int64_t integer(int column) const { return sqlite3_column_int64(raw_.get(), column); }
  double real(int column) const { return sqlite3_column_double(raw_.get(), column); }
  bool is_null(int column) const { return sqlite3_column_type(raw_.get(), column) == SQLITE_NULL; }

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* raw) const { sqlite3_finalize(raw); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> raw_;
};

class Database {
 public:
  enum class Mode { kWrite, kRead };
  static Result<Database> open(const std::string& path, Mode mode);
  Result<void> run(const char* sql);
  // Ends a transaction without effect; where there is none any more (a full disk ends it), nothing happens.
  void roll_back();
  Result<Statement> prepare(std::string_view sql);
  Result<int64_t> number(std::string_view sql);  // first column of the first row
  int64_t changes() const;                       // rows that the last statement wrote or deleted

 private:
  tl::unexpected<Error> broken() const;
  struct Close {
    void operator()(sqlite3* raw) const { sqlite3_close_v2(raw); }
  };
  std::unique_ptr<sqlite3, Close> raw_;
  std::string path_;
};

}  // namespace hengshi::ledger
