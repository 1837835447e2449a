// bench/semantic.cc — what the semantic index costs: search and insert, without encoder and HTTP. Also the exact index.
//
// bench_semantic [ENTRIES [DIM]]   prints a table, and last one line of JSON. Vectors are random, in clusters of ten.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "cache/cache.h"
#include "cache/kernels.h"

namespace {

using namespace hengshi;
using Vector = std::vector<float>;

Vector near(const Vector& center, std::mt19937_64& random, float noise) {
  std::normal_distribution<float> normal(0, noise / std::sqrt(static_cast<float>(center.size())));
  Vector v = center;
  float sum = 0;
  for (float& x : v) x += normal(random), sum += x * x;
  for (float& x : v) x /= std::sqrt(sum);
  return v;
}

cache::Entry make_entry(size_t i) {
  cache::Entry e;
  e.id = digest(std::to_string(i));
  e.partition = digest("partition");
  e.question = "怎么查询我的订单物流";
  e.payload.assign(300, 'a');
  return e;
}

double elapsed_us(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - since).count();
}

double percentile(std::vector<double>& times, double p) {
  std::sort(times.begin(), times.end());
  return times[std::min(times.size() - 1, static_cast<size_t>(p * static_cast<double>(times.size())))];
}

template <typename F>
std::vector<double> time_each(size_t n, F f) {
  std::vector<double> times;
  for (size_t i = 0; i < n; ++i) {
    const auto start = std::chrono::steady_clock::now();
    f(i);
    times.push_back(elapsed_us(start));
  }
  return times;
}

// Clustered vectors go in; the time per insert includes handing over and waiting for the writer.
double fill(cache::Cache& cache, size_t entries, size_t dim, std::mt19937_64& random, std::vector<Vector>& queries) {
  double us = 0;
  Vector center;
  for (size_t from = 0; from < entries; from += 1000) {
    std::vector<Vector> batch;
    for (size_t i = from; i < std::min(entries, from + 1000); ++i) {
      if (i % 10 == 0) center = near(Vector(dim, 0), random, 1);
      batch.push_back(near(center, random, 0.4f));
      if (queries.size() < 2000 && i % 5 == 0) queries.push_back(near(batch.back(), random, 0.3f));
    }
    const auto start = std::chrono::steady_clock::now();
    for (size_t i = 0; i < batch.size(); ++i) cache.insert(make_entry(from + i), batch[i]);
    cache.flush();
    us += elapsed_us(start);
  }
  return us / static_cast<double>(entries);
}

}  // namespace

int main(int argc, char** argv) {
  const size_t entries = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 10'000;
  const size_t dim = argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 512;
  SystemClock clock;
  Metrics metrics;
  cache::Options options;
  options.exact_bytes = options.semantic_bytes = size_t{4} << 30;
  const auto cache = cache::Cache::open(options, clock, metrics).value();
  std::mt19937_64 random(1);
  std::vector<Vector> queries;
  const double insert_us = fill(*cache, entries, dim, random, queries);
  const Digest partition = digest("partition");
  size_t hits = 0;
  const auto search = [&](size_t i) {
    const Vector& query = queries[i % queries.size()];
    hits += cache->find_similar(partition, "如何查询订单的物流", query, 0.9).hit.has_value();
  };
  time_each(500, search);
  hits = 0;
  constexpr size_t kSearches = 5000, kBatch = 1000;
  auto semantic = time_each(kSearches, search);
  std::vector<Digest> ids;
  for (size_t i = 0; i < kBatch; ++i) ids.push_back(digest(std::to_string(i * 7919 % entries)));
  size_t found = 0;
  auto exact = time_each(200, [&](size_t) {  // a thousand at a time: one is shorter than the clock's own cost
    for (const Digest& id : ids) found += cache->find(id) != nullptr;
  });
  const auto stats = cache->stats();
  const double p50 = percentile(semantic, 0.5), p99 = percentile(semantic, 0.99);
  const double exact_ns = percentile(exact, 0.5) * 1000 / kBatch;
  const double bytes = static_cast<double>(stats.semantic_bytes) / static_cast<double>(stats.semantic_entries);
  const std::string level(cache::kernels().name);
  std::printf("semantic index, %zu entries of dim %zu, kernels %s\n", entries, dim, level.c_str());
  std::printf("  %-34s %10.1f us\n  %-34s %10.1f us\n", "search with guards, p50", p50, "p99", p99);
  std::printf("  %-34s %10.1f us\n  %-34s %10.0f ns\n", "insert, writer included", insert_us, "exact find", exact_ns);
  std::printf("  %-34s %10.0f\n  %-34s %9.1f %%\n", "bytes per entry, answers included", bytes, "hits at 0.9",
              100.0 * static_cast<double>(hits) / kSearches);
  std::printf(
      "{\"entries\":%zu,\"dim\":%zu,\"kernels\":\"%s\",\"p50_us\":%.1f,\"p99_us\":%.1f,\"insert_us\":%.1f,"
      "\"exact_find_ns\":%.0f,\"bytes_per_entry\":%.0f,\"found\":%zu}\n",
      entries, dim, level.c_str(), p50, p99, insert_us, exact_ns, bytes, found / 200);
  return 0;
}
