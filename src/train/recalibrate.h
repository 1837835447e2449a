// recalibrate.h — `hengshi calibrate`: a trained artifact on freshly labelled questions, and the threshold they certify.
//
// Units:   risk, delta, oos_share in [0, 1]; printed shares in percent.
// Errors:  a row with its line; an artifact or encoder that cannot be read or does not fit; a state of another model, or one
//          that has counted all of the rows already.
//          Too few labels are no error: the report says so, `certified` is false, and nothing is written but the state.
// Threads: uses all cores.
// Source:  docs/calibrate.md, docs/decisions/0010-risk-control.md.
#pragma once

#include <optional>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "nn/encoder.h"

namespace hengshi::train {

struct RecalibrateOptions {
  std::string artifact;                  // folder with manifest.json
  std::string labels;                    // JSONL of {"text", "label"}; label = intent or "oos"
  std::string models = "models";         // the artifact's encoder is looked for here …
  std::string encoder;                   // … unless its folder is given
  double risk = 0.05;                    // at most this share wrong among answered …
  double delta = 0.05;                   // … but for this probability
  std::optional<double> oos_share = {};  // weighs the out-of-scope rows; none: the rows are a fair sample as they stand
  std::string state;                     // file that labels are added to, run after run
  std::string plot;                      // SVG of risk over coverage
  bool write = false;                    // the certified threshold goes into the manifest
  bool json = false;                     // end with one line of JSON
  bool progress = true;
};

struct Recalibrated {
  std::string report;  // to print, without the last line end
  bool certified = false;
};

Result<Recalibrated> recalibrate(const RecalibrateOptions& options, const Clock& clock);
Result<Recalibrated> recalibrate(const RecalibrateOptions& options, const Clock& clock, const nn::Encoder& encoder);

}  // namespace hengshi::train
