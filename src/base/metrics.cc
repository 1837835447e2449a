#include "base/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace hengshi {

namespace {

std::string render_labels(const Labels& labels) {
  std::string out;
  for (const auto& [key, value] : labels) {
    out += out.empty() ? "" : ",";
    out += key + "=\"";
    for (char c : value) {
      if (c == '\\' || c == '"') out += '\\';
      out += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    out += '"';
  }
  return out;
}

void line(std::string& out, std::string_view name, std::string_view labels, int64_t value) {
  if (labels.empty()) {
    fmt::format_to(std::back_inserter(out), "{} {}\n", name, value);
  } else {
    fmt::format_to(std::back_inserter(out), "{}{{{}}} {}\n", name, labels, value);
  }
}

}  // namespace

void Histogram::observe(std::chrono::nanoseconds elapsed) {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  const auto at = std::lower_bound(kBoundsSeconds.begin(), kBoundsSeconds.end(), seconds) - kBoundsSeconds.begin();
  buckets_[static_cast<size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  sum_ns_.fetch_add(elapsed.count(), std::memory_order_relaxed);
}

int64_t Histogram::count() const {
  int64_t n = 0;
  for (const auto& bucket : buckets_) n += bucket.load(std::memory_order_relaxed);
  return n;
}

void Histogram::render(std::string& out, std::string_view name, std::string_view labels) const {
  const std::string_view comma = labels.empty() ? "" : ",";
  int64_t cumulative = 0;
  for (size_t i = 0; i < buckets_.size(); ++i) {
    cumulative += buckets_[i].load(std::memory_order_relaxed);
    const std::string bound = i < kBoundsSeconds.size() ? fmt::format("{}", kBoundsSeconds[i]) : "+Inf";
    fmt::format_to(std::back_inserter(out), "{}_bucket{{{}{}le=\"{}\"}} {}\n", name, labels, comma, bound, cumulative);
  }
  const std::string braces = labels.empty() ? "" : fmt::format("{{{}}}", labels);
  fmt::format_to(std::back_inserter(out), "{}_sum{} {}\n{}_count{} {}\n", name, braces,
                 static_cast<double>(sum_ns_.load(std::memory_order_relaxed)) / 1e9, name, braces, cumulative);
}

size_t Metrics::index(Kind kind, std::string_view name, std::string_view help, const Labels& labels, size_t next) {
  auto it = families_.find(name);
  if (it == families_.end()) it = families_.emplace(name, Family{kind, std::string(help), {}}).first;
  CHECK(it->second.kind == kind, "one metric name, two kinds");
  return it->second.series.try_emplace(render_labels(labels), next).first->second;
}

Counter& Metrics::counter(std::string_view name, std::string_view help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  const size_t i = index(Kind::kCounter, name, help, labels, counters_.size());
  return i == counters_.size() ? counters_.emplace_back() : counters_[i];
}

Gauge& Metrics::gauge(std::string_view name, std::string_view help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  const size_t i = index(Kind::kGauge, name, help, labels, gauges_.size());
  return i == gauges_.size() ? gauges_.emplace_back() : gauges_[i];
}

Histogram& Metrics::histogram(std::string_view name, std::string_view help, const Labels& labels) {
  const std::lock_guard lock(mutex_);
  const size_t i = index(Kind::kHistogram, name, help, labels, histograms_.size());
  return i == histograms_.size() ? histograms_.emplace_back() : histograms_[i];
}

std::string Metrics::render() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [name, family] : families_) {
    const char* kind = family.kind == Kind::kCounter ? "counter" : family.kind == Kind::kGauge ? "gauge" : "histogram";
    fmt::format_to(std::back_inserter(out), "# HELP {} {}\n# TYPE {} {}\n", name, family.help, name, kind);
    for (const auto& [labels, i] : family.series) {
      switch (family.kind) {
        case Kind::kCounter: line(out, name, labels, counters_[i].value()); break;
        case Kind::kGauge: line(out, name, labels, gauges_[i].value()); break;
        case Kind::kHistogram: histograms_[i].render(out, name, labels); break;
      }
    }
  }
  return out;
}

}  // namespace hengshi
