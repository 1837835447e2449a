#include "ledger/database.h"

namespace hengshi::ledger {

namespace {

constexpr const char* kFix = "make it and its folder writable, or set [ledger] path to another file";
constexpr int kBusyMs = 2'000;  // A reader's checkpoint or a backup may hold the file this long.

}  // namespace

void Statement::bind(int at, std::string_view text) {
  // A null pointer would bind NULL; an empty view may hold one.
  const char* data = text.data() == nullptr ? "" : text.data();
  sqlite3_bind_text(raw_.get(), at, data, static_cast<int>(text.size()), SQLITE_STATIC);
}

void Statement::bind(int at, int64_t number) { sqlite3_bind_int64(raw_.get(), at, number); }

void Statement::bind(int at, double number) { sqlite3_bind_double(raw_.get(), at, number); }

void Statement::bind_null(int at) { sqlite3_bind_null(raw_.get(), at); }

Result<bool> Statement::step() {
  const int code = sqlite3_step(raw_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return fail(ErrorCode::kInternal, sqlite3_errstr(code));
}

std::string Statement::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(raw_.get(), column));
  if (bytes == nullptr) return {};
  return std::string(bytes, static_cast<size_t>(sqlite3_column_bytes(raw_.get(), column)));
}

Result<Database> Database::open(const std::string& path, Mode mode) {
  const int flags =
      SQLITE_OPEN_NOMUTEX | (mode == Mode::kWrite ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY);
  Database out;
  out.path_ = path;
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  out.raw_.reset(raw);
  if (code != SQLITE_OK) {
    std::string why = "cannot open the ledger " + path + ": " + sqlite3_errstr(code);
    if (mode == Mode::kWrite) why += std::string("; ") + kFix;
    return fail(ErrorCode::kInternal, std::move(why), path);
  }
  sqlite3_busy_timeout(raw, kBusyMs);
  return out;
}

tl::unexpected<Error> Database::broken() const {
  std::string why = "the ledger " + path_ + ": " + sqlite3_errmsg(raw_.get());
  if (sqlite3_errcode(raw_.get()) == SQLITE_READONLY) why += std::string("; ") + kFix;
  return fail(ErrorCode::kInternal, std::move(why), path_);
}

Result<void> Database::run(const char* sql) {
  if (sqlite3_exec(raw_.get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) return broken();
  return {};
}

void Database::roll_back() { sqlite3_exec(raw_.get(), "ROLLBACK", nullptr, nullptr, nullptr); }

int64_t Database::changes() const { return sqlite3_changes64(raw_.get()); }

Result<Statement> Database::prepare(std::string_view sql) {
  Statement out;
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(raw_.get(), sql.data(), static_cast<int>(sql.size()), &raw, nullptr) != SQLITE_OK) {
    return broken();
  }
  out.raw_.reset(raw);
  return out;
}

Result<int64_t> Database::number(std::string_view sql) {
  TRY(auto statement, prepare(sql));
  const auto row = statement.step();
  if (!row) return broken();
  return *row ? statement.integer(0) : 0;
}

}  // namespace hengshi::ledger
