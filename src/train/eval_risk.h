// eval_risk.h — `hengshi eval risk`: does the certified threshold keep its promise on rows it has not seen?
//
// Units:   shares in percent, risk, delta and oos_share in [0, 1].
// Errors:  as eval_intent.h.
// Threads: uses all cores; figures depend on files and seed only.
// Source:  docs/decisions/0010-risk-control.md.
#pragma once

#include <string>

#include "base/result.h"
#include "nn/encoder.h"
#include "train/eval_intent.h"

namespace hengshi::train {

struct EvalRiskOptions {
  EvalIntentOptions files;  // trained once on train; dev and test together are split again and again
  double risk = 0.05;
  double delta = 0.05;
  size_t splits = 200;
};

// The report to print, without the last line end: a table, then with `files.json` one line of JSON.
Result<std::string> eval_risk(const EvalRiskOptions& options);
Result<std::string> eval_risk(const EvalRiskOptions& options, const nn::Encoder& encoder);

}  // namespace hengshi::train
