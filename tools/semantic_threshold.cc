// semantic_threshold.cc — which cosine an encoder needs before one question's answer may serve another, on your pairs.
//
// Usage: semantic_threshold MODEL_DIR PAIRS.jsonl [FIRST LAST]     rows {"a": "...", "b": "...", "same": 0 or 1}
// Prints, for the labelled pairs, the threshold that reaches a precision with the guards and without; then what the
// cache itself would do if every a were stored and every b asked once. Last, one line of JSON.
#include <simdjson.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/cache.h"
#include "nn/encoder.h"
#include "text/guards.h"
#include "text/text.h"

namespace {

using namespace hengshi;

struct Pair {
  size_t a = 0, b = 0;
  bool same = false;
};

struct Pairs {
  std::vector<std::string> texts;
  std::vector<Pair> rows;
};

struct Scored {
  double similarity = 0;
  bool right = false;
};

Pairs read_pairs(const char* path, size_t first, size_t last) {
  Pairs pairs;
  std::unordered_map<std::string, size_t> index;
  const auto intern = [&](std::string_view text) {
    const auto [it, fresh] = index.emplace(text::normalise(text), pairs.texts.size());
    if (fresh) pairs.texts.push_back(it->first);
    return it->second;
  };
  std::ifstream in(path);
  std::string line;
  simdjson::dom::parser parser;
  for (size_t n = 0; std::getline(in, line) && n < last; ++n) {
    if (n < first) continue;
    simdjson::dom::element row;
    std::string_view a, b;
    int64_t same = 0;
    if (parser.parse(line).get(row) || row["a"].get(a) || row["b"].get(b) || row["same"].get(same)) {
      std::fprintf(stderr, "%s:%zu: not a row {\"a\",\"b\",\"same\"}\n", path, n + 1);
      std::exit(1);
    }
    const size_t i = intern(a), j = intern(b);
    if (i != j) pairs.rows.push_back({i, j, same == 1});  // equal normal forms are the exact cache's
  }
  return pairs;
}

std::vector<std::vector<float>> encode_all(const nn::Encoder& encoder, const std::vector<std::string>& texts) {
  std::vector<std::vector<float>> vectors(texts.size(), std::vector<float>(encoder.dim()));
  for (size_t i = 0; i < texts.size(); ++i) encoder.encode(texts[i], vectors[i]);
  return vectors;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

struct Point {
  double threshold = 0, precision = 0, recall = 0;
};

// The lowest threshold from which on the accepted are right often enough.
Point reach(std::vector<Scored> scored, double precision, size_t positives) {
  std::sort(scored.begin(), scored.end(), [](const auto& x, const auto& y) { return x.similarity > y.similarity; });
  Point best;
  size_t right = 0;
  for (size_t i = 0; i < scored.size(); ++i) {
    right += scored[i].right;
    const double p = static_cast<double>(right) / static_cast<double>(i + 1);
    if (p < precision || i < 50) continue;
    best = {scored[i].similarity, p, static_cast<double>(right) / static_cast<double>(positives)};
  }
  return best;
}

size_t find_root(std::vector<size_t>& parent, size_t i) {
  while (parent[i] != i) i = parent[i] = parent[parent[i]];
  return i;
}

struct Stream {
  std::vector<Scored> hits;
  size_t queries = 0, answerable = 0;
};

// Every a stored, every b asked once; right when positive pairs connect the two.
Stream run_stream(const Pairs& pairs, const std::vector<std::vector<float>>& vectors) {
  std::vector<size_t> parent(pairs.texts.size());
  for (size_t i = 0; i < parent.size(); ++i) parent[i] = i;
  for (const Pair& p : pairs.rows) {
    if (p.same) parent[find_root(parent, p.a)] = find_root(parent, p.b);
  }
  SystemClock clock;
  Metrics metrics;
  cache::Options options;
  options.exact_bytes = options.semantic_bytes = size_t{4} << 30;
  const auto store = cache::Cache::open(options, clock, metrics).value();
  std::vector<char> stored(pairs.texts.size()), asked(pairs.texts.size()), component(pairs.texts.size());
  for (const Pair& p : pairs.rows) {
    if (std::exchange(stored[p.a], 1)) continue;
    component[find_root(parent, p.a)] = 1;
    cache::Entry entry;
    entry.id = digest(pairs.texts[p.a]);
    entry.question = pairs.texts[p.a];
    entry.payload = std::to_string(p.a);
    store->insert(std::move(entry), vectors[p.a]);
    if (p.a % 500 == 0) store->flush();
  }
  store->flush();
  Stream stream;
  for (const Pair& p : pairs.rows) {
    if (stored[p.b] || std::exchange(asked[p.b], 1)) continue;
    ++stream.queries;
    stream.answerable += component[find_root(parent, p.b)] == 1;
    const auto result = store->find_similar(Digest{}, pairs.texts[p.b], vectors[p.b], 0.5);
    if (!result.hit) continue;
    const size_t a = std::strtoul(result.hit->entry->payload.c_str(), nullptr, 10);
    stream.hits.push_back({result.hit->similarity, find_root(parent, a) == find_root(parent, p.b)});
  }
  return stream;
}

std::string format_point(double precision, const Point& p) {
  char buffer[120];
  std::snprintf(buffer, sizeof buffer, "\"at%.0f\":{\"threshold\":%.4f,\"precision\":%.1f,\"recall\":%.1f},",
                100 * precision, p.threshold, 100 * p.precision, 100 * p.recall);
  return buffer;
}

// Prints what each guard refuses and which thresholds reach a precision; gives back the pairs that pass the guards.
std::vector<Scored> print_pairs(const Pairs& pairs, const std::vector<std::vector<float>>& vectors, std::string& json) {
  std::vector<Scored> alone, guarded;
  std::map<std::string_view, std::pair<size_t, size_t>> refused;  // guard -> different, same
  size_t positives = 0;
  for (const Pair& p : pairs.rows) {
    const Scored s{cosine(vectors[p.a], vectors[p.b]), p.same};
    positives += p.same;
    alone.push_back(s);
    const auto guard = text::refuse(text::guard_facts(pairs.texts[p.a]), text::guard_facts(pairs.texts[p.b]));
    if (guard.empty()) guarded.push_back(s);
    if (!guard.empty()) ++(p.same ? refused[guard].second : refused[guard].first);
  }
  std::printf("%zu pairs, %zu the same\n", pairs.rows.size(), positives);
  for (const auto& [guard, counts] : refused) {
    std::printf("  guard %-9s refuses %6zu different, %6zu the same\n", std::string(guard).c_str(), counts.first,
                counts.second);
  }
  std::printf("  precision   cosine alone: threshold recall   with guards: threshold recall\n");
  for (const double precision : {0.90, 0.95, 0.98}) {
    const Point a = reach(alone, precision, positives), g = reach(guarded, precision, positives);
    std::printf("  %8.0f %%               %9.4f %5.1f %%               %9.4f %5.1f %%\n", 100 * precision, a.threshold,
                100 * a.recall, g.threshold, 100 * g.recall);
    json += format_point(precision, g);
  }
  return guarded;
}

struct Tally {
  size_t accepted = 0, right = 0;
};

Tally accept(const std::vector<Scored>& scored, double threshold) {
  Tally tally;
  for (const Scored& s : scored) {
    if (s.similarity < threshold) continue;
    ++tally.accepted;
    tally.right += s.right;
  }
  return tally;
}

double percent(size_t x, size_t of) { return of == 0 ? 0.0 : 100.0 * static_cast<double>(x) / static_cast<double>(of); }

std::string print_stream(const Stream& stream, const std::vector<Scored>& guarded) {
  std::printf("stream: %zu queries, %zu with an equivalent stored; all with guards\n", stream.queries,
              stream.answerable);
  std::printf("  threshold  pairs right %%  hits %%  right of hits %%  wrong of queries %%  right of answerable %%\n");
  std::string json;
  for (int step = 80; step <= 98; ++step) {
    const double threshold = step / 100.0;
    const Tally pair = accept(guarded, threshold), hit = accept(stream.hits, threshold);
    const double wrong = percent(hit.accepted - hit.right, stream.queries),
                 found = percent(hit.right, stream.answerable);
    std::printf("  %9.2f %14.1f %7.1f %16.1f %19.2f %22.1f\n", threshold, percent(pair.right, pair.accepted),
                percent(hit.accepted, stream.queries), percent(hit.right, hit.accepted), wrong, found);
    char buffer[120];
    std::snprintf(buffer, sizeof buffer, "%s{\"threshold\":%.2f,\"hit_rate\":%.1f,\"wrong_rate\":%.2f}",
                  json.empty() ? "" : ",", threshold, found, wrong);
    json += buffer;
  }
  return json;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 && argc != 5) {
    std::fprintf(stderr, "usage: semantic_threshold MODEL_DIR PAIRS.jsonl [FIRST LAST]\n");
    return 2;
  }
  const auto encoder = nn::Encoder::load(argv[1]);
  if (!encoder) {
    std::fprintf(stderr, "%s\n", encoder.error().message.c_str());
    return 1;
  }
  const size_t first = argc == 5 ? std::strtoul(argv[3], nullptr, 10) : 0;
  const size_t last = argc == 5 ? std::strtoul(argv[4], nullptr, 10) : SIZE_MAX;
  const Pairs pairs = read_pairs(argv[2], first, last);
  const auto vectors = encode_all(**encoder, pairs.texts);
  std::string at;
  const std::vector<Scored> guarded = print_pairs(pairs, vectors, at);
  const std::string stream = print_stream(run_stream(pairs, vectors), guarded);
  std::printf("{\"pairs\":%zu,%s\"stream\":[%s]}\n", pairs.rows.size(), at.c_str(), stream.c_str());
  return 0;
}
