#include "train/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>

namespace hengshi::train {

namespace {

constexpr double kWidth = 720, kHeight = 440;
constexpr double kLeft = 70, kRight = 20, kTop = 40, kBottom = 55;
constexpr int kTicks = 6;  // about so many per axis
constexpr std::array<std::string_view, 6> kColours = {"#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf"};

std::string escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '&': out += "&amp;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

bool drawable(const PlotPoint& p) { return std::isfinite(p.x) && std::isfinite(p.y); }

class Axis {  // data on one axis, and where it lies in the picture
 public:
  Axis(double from, double to) : from_(from), to_(to) {}

  void see(double value) {
    lo_ = std::min(lo_, value);
    hi_ = std::max(hi_, value);
  }

  // Rounds the ends outwards to a step of 1, 2 or 5 times a power of ten.
  void round() {
    if (lo_ > hi_) lo_ = 0, hi_ = 1;
    if (hi_ - lo_ < 1e-12 * std::max(1.0, std::fabs(hi_))) lo_ -= 0.5, hi_ += 0.5;
    const double raw = (hi_ - lo_) / kTicks, power = std::pow(10, std::floor(std::log10(raw)));
    const double digit = raw / power;
    step_ = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
    lo_ = std::floor(lo_ / step_ + 1e-9) * step_;
    hi_ = std::ceil(hi_ / step_ - 1e-9) * step_;
  }

  std::vector<double> ticks() const {
    std::vector<double> out;
    const auto count = std::lround((hi_ - lo_) / step_);
    for (long i = 0; i <= count; ++i) {
      const double tick = lo_ + static_cast<double>(i) * step_;
      out.push_back(std::fabs(tick) < step_ * 1e-9 ? 0 : tick);
    }
    return out;
  }

  double at(double value) const { return from_ + (value - lo_) / (hi_ - lo_) * (to_ - from_); }

 private:
  double from_, to_;
  double lo_ = std::numeric_limits<double>::infinity(), hi_ = -lo_;
  double step_ = 1;
};

struct Axes {
  Axis x{kLeft, kWidth - kRight}, y{kHeight - kBottom, kTop};

  void see(const std::vector<PlotPoint>& points) {
    for (const PlotPoint& p : points) {
      if (!drawable(p)) continue;
      x.see(p.x);
      y.see(p.y);
    }
  }
};

Axes axes_of(const Plot& plot) {
  Axes out;
  for (const PlotLine& line : plot.lines) out.see(line.points);
  out.see(plot.band.low);
  out.see(plot.band.high);
  if (plot.mark) out.y.see(*plot.mark);
  out.x.round();
  out.y.round();
  return out;
}

std::string path_of(const std::vector<PlotPoint>& points, const Axes& axes) {
  std::string out;
  for (const PlotPoint& p : points) {
    if (drawable(p)) out += fmt::format("{}{:.1f},{:.1f}", out.empty() ? "" : " ", axes.x.at(p.x), axes.y.at(p.y));
  }
  return out;
}

std::string frame(const Plot& plot, const Axes& axes) {
  std::string out;
  const double bottom = kHeight - kBottom, right = kWidth - kRight;
  for (const double tick : axes.x.ticks()) {
    const double x = axes.x.at(tick);
    out += fmt::format(
        "<path d=\"M{0:.1f} {1}V{2}\" stroke=\"#ddd\"/><text x=\"{0:.1f}\" y=\"{3}\" "
        "text-anchor=\"middle\">{4:.6g}</text>\n",
        x, kTop, bottom, bottom + 18, tick);
  }
  for (const double tick : axes.y.ticks()) {
    const double y = axes.y.at(tick);
    out += fmt::format(
        "<path d=\"M{0} {1:.1f}H{2}\" stroke=\"#ddd\"/><text x=\"{3}\" y=\"{4:.1f}\" "
        "text-anchor=\"end\">{5:.6g}</text>\n",
        kLeft, y, right, kLeft - 6, y + 4, tick);
  }
  const double x = (kLeft + right) / 2, y = (kTop + bottom) / 2;
  out += fmt::format("<path d=\"M{} {}V{}H{}\" stroke=\"#333\" fill=\"none\"/>\n", kLeft, kTop, bottom, right);
  out +=
      fmt::format("<text x=\"{}\" y=\"24\" text-anchor=\"middle\" font-size=\"15\">{}</text>\n", x, escape(plot.title));
  out +=
      fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>\n", x, kHeight - 14, escape(plot.x_label));
  out += fmt::format("<text transform=\"translate(18 {}) rotate(-90)\" text-anchor=\"middle\">{}</text>\n", y,
                     escape(plot.y_label));
  return out;
}

std::string legend(const Plot& plot) {
  std::string out;
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    const double y = kTop + 16 + 18 * static_cast<double>(i);
    out +=
        fmt::format("<path d=\"M{0} {1}h22\" stroke=\"{2}\" stroke-width=\"2\"/><text x=\"{3}\" y=\"{4}\">{5}</text>\n",
                    kLeft + 12, y, kColours[i % kColours.size()], kLeft + 40, y + 4, escape(plot.lines[i].name));
  }
  return out;
}

}  // namespace

std::string svg(const Plot& plot) {
  const Axes axes = axes_of(plot);
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
      kWidth, kHeight);
  out += frame(plot, axes);
  std::vector<PlotPoint> around = plot.band.low;
  around.insert(around.end(), plot.band.high.rbegin(), plot.band.high.rend());
  if (!around.empty()) {
    out +=
        fmt::format("<polygon points=\"{}\" fill=\"{}\" fill-opacity=\"0.15\"/>\n", path_of(around, axes), kColours[0]);
  }
  if (plot.mark) {
    out += fmt::format("<path d=\"M{} {:.1f}H{}\" stroke=\"#555\" stroke-dasharray=\"6 4\"/>\n", kLeft,
                       axes.y.at(*plot.mark), kWidth - kRight);
  }
  for (size_t i = 0; i < plot.lines.size(); ++i) {
    out += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>\n",
                       path_of(plot.lines[i].points, axes), kColours[i % kColours.size()]);
  }
  return out + legend(plot) + "</svg>\n";
}

}  // namespace hengshi::train
