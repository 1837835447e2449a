// schema.h — the table `requests`: its version, its columns, and how a Record goes in and out of a row.
//
// Errors:  prepare_schema() refuses a file of another version or of another program, naming the command to run.
// Threads: free functions on the Database's thread.
// Source:  docs/ledger.md describes each column.
#pragma once

#include <string>
#include <string_view>

#include "ledger/database.h"
#include "ledger/ledger.h"

namespace hengshi::ledger {

inline constexpr int64_t kSchemaVersion = 1;

// Creates the table in an empty file; anything else must already be of this version.
Result<void> prepare_schema(Database& database, const std::string& path);

// A file to read: of this version, or refused.
Result<void> check_schema(Database& database, const std::string& path);

std::string_view insert_sql();
std::string_view erase_sql();   // ?1: older than this at_us; ?2: at most so many; the newest row stays
std::string_view select_sql();  // "SELECT id, … FROM requests"; the caller adds WHERE and ORDER BY

void bind_record(Statement& statement, const Record& record);
Record read_record(const Statement& statement);  // a row of select_sql()

}  // namespace hengshi::ledger
