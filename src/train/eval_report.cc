#include "train/eval_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace hengshi::train {

namespace {

const Summary& find(const std::vector<Summary>& figures, std::string_view name) {
  const auto at = std::find_if(figures.begin(), figures.end(), [&](const Summary& one) { return one.name == name; });
  CHECK(at != figures.end(), "the report names figures that were measured");
  return *at;
}

}  // namespace

std::vector<Summary> summarise(const std::vector<Figures>& per_seed) {
  std::vector<Summary> out;
  for (size_t i = 0; i < per_seed.front().size(); ++i) {
    double n = 0, sum = 0, squares = 0;
    for (const Figures& figures : per_seed) {
      if (std::isnan(figures[i].second)) continue;
      sum += figures[i].second;
      ++n;
    }
    const double mean = sum / n;  // NaN where n = 0
    for (const Figures& figures : per_seed) {
      if (!std::isnan(figures[i].second)) squares += (figures[i].second - mean) * (figures[i].second - mean);
    }
    out.push_back({per_seed.front()[i].first, mean, n > 1 ? std::sqrt(squares / (n - 1)) : 0});
  }
  return out;
}

std::string json_line(const std::vector<Summary>& figures) {
  std::string out = "{", inside;
  for (const Summary& figure : figures) {
    const size_t dot = figure.name.find('.');
    const std::string group = dot == std::string::npos ? "" : figure.name.substr(0, dot);
    const std::string key = dot == std::string::npos ? figure.name : figure.name.substr(dot + 1);
    if (group != inside && !inside.empty()) out += '}';
    if (out.size() > 1 && out.back() != '{') out += ',';
    if (group != inside && !group.empty()) out += fmt::format("\"{}\":{{", group);
    inside = group;
    out += fmt::format("\"{}\":", key);
    out += std::isnan(figure.mean) ? "null" : fmt::format("{:.6g}", figure.mean);
  }
  return out + (inside.empty() ? "}" : "}}");
}

double mean_of(const std::vector<Summary>& figures, std::string_view name) { return find(figures, name).mean; }
double deviation_of(const std::vector<Summary>& figures, std::string_view name) {
  return find(figures, name).deviation;
}

}  // namespace hengshi::train
