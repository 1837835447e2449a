#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "ledger/ledger.h"
#include "ledger/schema.h"

namespace hengshi::ledger {

namespace {

Result<Database> open_to_read(const std::string& path) {
  TRY(auto database, Database::open(path, Database::Mode::kRead));
  TRY_OK(check_schema(database, path));
  return database;
}

// Nearest rank; `sorted` is not empty.
double percentile_ms(const std::vector<int64_t>& sorted, double q) {
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(sorted.size())));
  return static_cast<double>(sorted[std::max<size_t>(rank, 1) - 1]) / 1e3;
}

void finish(PathStats& stats, const std::vector<int64_t>& sorted_us) {
  int64_t sum = 0;
  for (const int64_t us : sorted_us) sum += us;
  stats.requests = static_cast<int64_t>(sorted_us.size());
  stats.mean_ms = static_cast<double>(sum) / static_cast<double>(sorted_us.size()) / 1e3;
  stats.p50_ms = percentile_ms(sorted_us, 0.50);
  stats.p95_ms = percentile_ms(sorted_us, 0.95);
  stats.p99_ms = percentile_ms(sorted_us, 0.99);
}

}  // namespace

Result<std::vector<PathStats>> stats(const std::string& path, std::chrono::seconds window) {
  TRY(auto database, open_to_read(path));
  TRY(auto rows, database.prepare("SELECT path, total_us, cost_micro_usd, saved_tokens FROM requests"
                                  " WHERE at_us >= ? ORDER BY path, total_us"));
  const auto since = std::chrono::system_clock::now() - window;
  rows.bind(1, std::chrono::duration_cast<std::chrono::microseconds>(since.time_since_epoch()).count());
  std::vector<PathStats> out;
  std::vector<int64_t> times_us;
  int64_t all = 0;
  while (true) {
    TRY(const bool more, rows.step());
    if (!out.empty() && (!more || rows.text(0) != out.back().path)) {
      finish(out.back(), times_us);
      times_us.clear();
    }
    if (!more) break;
    if (times_us.empty()) out.emplace_back().path = rows.text(0);
    times_us.push_back(rows.integer(1));
    out.back().cost_micro_usd += rows.integer(2);
    out.back().saved_tokens += rows.integer(3);
    ++all;
  }
  for (PathStats& stats : out) stats.share = static_cast<double>(stats.requests) / static_cast<double>(all);
  std::stable_sort(out.begin(), out.end(),
                   [](const PathStats& a, const PathStats& b) { return a.requests > b.requests; });
  return out;
}

Result<Tail> tail(const std::string& path, int64_t after_row, int limit) {
  TRY(auto database, open_to_read(path));
  if (after_row > 0) {  // The file may have been made anew since.
    TRY(const int64_t newest, database.number("SELECT coalesce(max(id), 0) FROM requests"));
    if (newest < after_row) after_row = 0;
  }
  const std::string sql = std::string(select_sql()) + (after_row > 0 ? " WHERE id > ?1 ORDER BY id LIMIT ?2"
                                                                     : " WHERE id > ?1 ORDER BY id DESC LIMIT ?2");
  TRY(auto rows, database.prepare(sql));
  rows.bind(1, after_row);
  rows.bind(2, static_cast<int64_t>(limit));
  Tail out;
  out.last_row = after_row;
  while (true) {
    TRY(const bool more, rows.step());
    if (!more) break;
    out.last_row = std::max(out.last_row, rows.integer(0));
    out.records.push_back(read_record(rows));
  }
  if (after_row <= 0) std::reverse(out.records.begin(), out.records.end());
  return out;
}

}  // namespace hengshi::ledger
