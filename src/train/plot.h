// plot.h — line plots as SVG: axes with round ticks, lines with a legend, a shaded band, a dashed mark.
//
// Units:   those of the data; the picture is 720 x 440.
// Errors:  none: points that are not finite are left out, an empty plot has empty axes.
// Threads: pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace hengshi::train {

struct PlotPoint {
  double x = 0, y = 0;
};

struct PlotLine {
  std::string name;
  std::vector<PlotPoint> points;  // in drawing order
};

struct PlotBand {  // between two lines
  std::vector<PlotPoint> low, high;
};

struct Plot {
  std::string title, x_label, y_label;
  std::vector<PlotLine> lines;
  PlotBand band = {};
  std::optional<double> mark = {};  // a dashed line across, at this y
};

std::string svg(const Plot& plot);

}  // namespace hengshi::train
