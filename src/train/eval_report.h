// eval_report.h — named figures over several seeds, as a table for people and as one line of JSON.
//
// Threads: values.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hengshi::train {

// In the order of the report. "at95.precision" is the key "precision" inside "at95".
using Figures = std::vector<std::pair<std::string, double>>;

struct Summary {
  std::string name;
  double mean = 0, deviation = 0;
};

// A figure that some seeds do not have (NaN) is the mean of those that do.
std::vector<Summary> summarise(const std::vector<Figures>& per_seed);

// {"accuracy":…,"at95":{"threshold":…,…},…}; null where no seed has the figure
std::string json_line(const std::vector<Summary>& figures);

double mean_of(const std::vector<Summary>& figures, std::string_view name);
double deviation_of(const std::vector<Summary>& figures, std::string_view name);

}  // namespace hengshi::train
