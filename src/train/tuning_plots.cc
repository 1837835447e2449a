#include "train/tuning_plots.h"

#include "base/file.h"
#include "train/metrics.h"
#include "train/plot.h"

namespace hengshi::train {

namespace {

std::string loss_plot(const std::vector<tune::Validation>& history) {
  PlotLine training{"training (smoothed labels, dropout)", {}}, held_out{"held out", {}};
  for (const tune::Validation& one : history) {
    training.points.push_back({static_cast<double>(one.step), one.train_loss});
    if (one.loss > 0) held_out.points.push_back({static_cast<double>(one.step), one.loss});
  }
  Plot plot{"Loss while the encoder is tuned", "step", "nats per question", {training}};
  if (!held_out.points.empty()) plot.lines.push_back(held_out);
  return svg(plot);
}

std::string risk_plot(const Fitted& fitted) {
  std::vector<Scored> rows;
  for (size_t i = 0; i < fitted.held_out.size(); ++i) {
    const Judged& row = fitted.held_out[i];
    rows.push_back({fitted.held_out_confidence[i], row.right, row.refused, row.in_scope});
  }
  PlotLine risk{"wrong among answered", {}};
  Plot plot{"Risk over coverage, held-out questions", "share answered, percent", "share wrong, percent"};
  for (const RiskPoint& one : risk_coverage(rows, {})) {
    risk.points.push_back({100 * one.coverage, 100 * one.risk});
    plot.band.low.push_back({100 * one.coverage, 100 * one.lo});
    plot.band.high.push_back({100 * one.coverage, 100 * one.hi});
  }
  plot.lines = {risk};
  return svg(plot);
}

}  // namespace

Result<void> write_plots(const TunedFit& tuned, const std::string& folder) {
  TRY_OK(write_whole(folder + "/loss.svg", {loss_plot(tuned.history)}));
  return write_whole(folder + "/risk_coverage.svg", {risk_plot(tuned.fitted)});
}

}  // namespace hengshi::train
