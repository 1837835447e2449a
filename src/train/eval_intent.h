// eval_intent.h — `hengshi eval intent`: how good a light model trained on one file is on another.
//
// Units:   shares in percent, times end in their unit; oos_share in [0, 1].
// Errors:  a file that cannot be read or says nothing useful, with its line; a missing model folder.
// Threads: uses all cores; figures but the times depend on files and seeds only.
// Source:  docs/decisions/0006-light.md, 0009-tuning.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "nn/encoder.h"
#include "train/fit_tuned.h"

namespace hengshi::train {

struct EvalIntentOptions {
  std::string train, dev, test;   // JSONL of {"text", "label"}; without dev a fifth of train is held back
  std::string oos_dev, oos_test;  // more out-of-scope rows; one file for both: even rows dev, odd rows test
  std::string pack;               // a pack instead of train
  std::string encoder;            // model folder; empty: the language's own under models
  std::string models = "models";
  // Share that dev negatives are weighted to. Default: 0 where a dev file holds no negative, for then live questions are
  // not expected to either; else 0.15.
  std::optional<double> oos_share;
  size_t unknown_every = 0;  // every n-th intent is made unknown; 0: none
  size_t seeds = 1;
  std::optional<double> copies;  // noisy ones of a training row to train on as well; 0: no noise in tuning either
  bool frozen = false;           // leave the encoder as it is: seconds instead of minutes
  TuneSettings tuning;           // base: as `encoder` says; an empty work folder: one of its own, gone afterwards
  bool json = false;             // end with one line of JSON
  bool progress = true;          // a bar on standard error, when that is a terminal
};

// The report to print, without the last line end: a table, then with `json` one line of JSON.
Result<std::string> eval_intent(const EvalIntentOptions& options);
Result<std::string> eval_intent(const EvalIntentOptions& options, const nn::Encoder& encoder);  // frozen

}  // namespace hengshi::train
