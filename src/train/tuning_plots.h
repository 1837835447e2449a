// tuning_plots.h — how a tuning went, as SVG beside the tuned encoder: loss by step, risk over coverage.
//
// Errors:  the path that could not be written.
// Threads: free function; one writer per folder.
// Source:  docs/decisions/0009-tuning.md.
#pragma once

#include "base/result.h"
#include "train/fit_tuned.h"

namespace hengshi::train {

// folder/loss.svg and folder/risk_coverage.svg; the latter from held-out rows, which the heads did not see.
Result<void> write_plots(const TunedFit& tuned, const std::string& folder);

}  // namespace hengshi::train
