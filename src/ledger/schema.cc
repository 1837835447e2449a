#include "ledger/schema.h"

namespace hengshi::ledger {

namespace {

constexpr const char* kCreateSql = R"(
BEGIN IMMEDIATE;
CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  at_us INTEGER NOT NULL,
  request_id TEXT NOT NULL, tenant TEXT NOT NULL, route TEXT NOT NULL, path TEXT NOT NULL, model TEXT NOT NULL,
  versions TEXT NOT NULL, reasons TEXT NOT NULL, language TEXT NOT NULL, intent TEXT NOT NULL,
  question TEXT NOT NULL, answer TEXT NOT NULL,
  status INTEGER NOT NULL, stream INTEGER NOT NULL, confidence REAL, threshold REAL,
  prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL, cached_tokens INTEGER NOT NULL,
  saved_tokens INTEGER NOT NULL, estimated INTEGER NOT NULL, cost_micro_usd INTEGER NOT NULL,
  parse_us INTEGER NOT NULL, exact_us INTEGER NOT NULL, encode_us INTEGER NOT NULL, semantic_us INTEGER NOT NULL,
  rules_us INTEGER NOT NULL, light_us INTEGER NOT NULL, upstream_us INTEGER NOT NULL, first_token_us INTEGER NOT NULL,
  total_us INTEGER NOT NULL
);
CREATE INDEX requests_at ON requests (at_us);
PRAGMA user_version = 1;
COMMIT;
)";

#define HENGSHI_LEDGER_COLUMNS                                                                               \
  "at_us, request_id, tenant, route, path, model, versions, reasons, language, intent, question, answer, "   \
  "status, stream, confidence, threshold, prompt_tokens, completion_tokens, cached_tokens, saved_tokens, "   \
  "estimated, cost_micro_usd, parse_us, exact_us, encode_us, semantic_us, rules_us, light_us, upstream_us, " \
  "first_token_us, total_us"

// Columns in the table's order: the one list that writing and reading share.
template <typename R, typename Visit>
void each_column(R& record, Visit visit) {
  visit(record.at_us);
  for (auto* text : {&record.request_id, &record.tenant, &record.route, &record.path, &record.model, &record.versions,
                     &record.reasons, &record.language, &record.intent, &record.question, &record.answer}) {
    visit(*text);
  }
  visit(record.status);
  visit(record.stream);
  visit(record.confidence);
  visit(record.threshold);
  for (auto* number : {&record.prompt_tokens, &record.completion_tokens, &record.cached_tokens, &record.saved_tokens}) {
    visit(*number);
  }
  visit(record.estimated);
  for (auto* number :
       {&record.cost_micro_usd, &record.parse_us, &record.exact_us, &record.encode_us, &record.semantic_us,
        &record.rules_us, &record.light_us, &record.upstream_us, &record.first_token_us, &record.total_us}) {
    visit(*number);
  }
}

struct Binder {
  Statement& statement;
  int at = 0;
  void operator()(const std::string& text) { statement.bind(++at, text); }
  void operator()(int64_t number) { statement.bind(++at, number); }
  void operator()(int number) { statement.bind(++at, static_cast<int64_t>(number)); }
  void operator()(bool flag) { statement.bind(++at, static_cast<int64_t>(flag)); }
  void operator()(const std::optional<double>& number) {
    ++at;
    number ? statement.bind(at, *number) : statement.bind_null(at);
  }
};

struct Reader {
  const Statement& row;
  int at = 0;  // Column 0 is the id.
  void operator()(std::string& text) { text = row.text(++at); }
  void operator()(int64_t& number) { number = row.integer(++at); }
  void operator()(int& number) { number = static_cast<int>(row.integer(++at)); }
  void operator()(bool& flag) { flag = row.integer(++at) != 0; }
  void operator()(std::optional<double>& number) {
    if (!row.is_null(++at)) number = row.real(at);
  }
};

tl::unexpected<Error> refuse(const std::string& path, const std::string& why) {
  return fail(ErrorCode::kInternal,
              "the ledger " + path + " " + why + "; set it aside: mv " + path + " " + path + ".old", path);
}

}  // namespace

std::string_view insert_sql() {
  return "INSERT INTO requests (" HENGSHI_LEDGER_COLUMNS
         ") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
}

std::string_view erase_sql() {
  return "DELETE FROM requests WHERE id IN (SELECT id FROM requests WHERE at_us < ?1"
         " AND id < (SELECT max(id) FROM requests) ORDER BY at_us LIMIT ?2)";
}

std::string_view select_sql() { return "SELECT id, " HENGSHI_LEDGER_COLUMNS " FROM requests"; }

Result<void> check_schema(Database& database, const std::string& path) {
  TRY(const int64_t version, database.number("PRAGMA user_version"));
  if (version == kSchemaVersion) return {};
  if (version == 0) return refuse(path, "is not a hengshi ledger");
  return refuse(path, "has schema version " + std::to_string(version) + ", this program writes " +
                          std::to_string(kSchemaVersion));
}

Result<void> prepare_schema(Database& database, const std::string& path) {
  TRY(const int64_t tables, database.number("SELECT count(*) FROM sqlite_schema"));
  if (tables > 0) return check_schema(database, path);
  return database.run(kCreateSql);
}

void bind_record(Statement& statement, const Record& record) { each_column(record, Binder{statement}); }

Record read_record(const Statement& statement) {
  Record out;
  each_column(out, Reader{statement});
  return out;
}

}  // namespace hengshi::ledger
