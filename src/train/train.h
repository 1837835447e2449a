// train.h — `hengshi train`: a pack in, one artifact per language out.
//
// Units:   shares in percent, times in seconds, sizes in bytes; aim and oos_share in [0, 1].
// Errors:  the pack's, with file, line and fix; a missing model folder; a folder that cannot be written.
//          Nothing is put in use unless every language of the pack could be trained and is no worse on the pack's tests
//          than what is in use (gate.h).
// Threads: uses all cores; the artifacts depend on pack, encoder and seed only, but for the time they name.
// Source:  docs/pack.md, docs/decisions/0006-light.md, 0009-tuning.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "light/light.h"
#include "nn/encoder.h"
#include "text/text.h"
#include "train/fit_tuned.h"

namespace hengshi::train {

struct TrainOptions {
  std::string pack;               // folder or JSONL file
  std::string out = "artifacts";  // artifacts go to out/<pack>/<language>
  std::string models = "models";  // folder of the encoders
  uint64_t seed = 1;
  double aim = 0.95;             // precision wanted among answered questions
  double oos_share = 0.15;       // share of live questions taken to be out of scope
  std::optional<double> copies;  // noisy ones of a question to train on as well; 0: no noise in tuning either
  bool progress = true;          // a bar on standard error, when that is a terminal
  bool force = false;            // put a model in use that is worse on the pack's own tests than the one in use
  bool tune = false;             // an encoder of the pack's own, tuned end to end: minutes instead of seconds
  std::string base;              // folder of the model to start from; empty: the language's own under models
  TuneSettings tuning = {.work = "tuning"};  // each language works in work/<pack>/<language>
};

struct LanguageReport {
  text::Language language = text::Language::kOther;
  std::string folder, version, encoder;
  bool unchanged = false;      // the version in use is this very one, and stays
  std::string encoder_folder;  // of an encoder of the pack's own; else empty
  size_t intents = 0, phrasings = 0, negatives = 0;
  double accuracy = 0, oos_auroc = 0;  // on held-out folds
  light::Threshold threshold;
  std::optional<double> precision;  // at the threshold, on held-out folds, weighted as for it; none: no answers
  double coverage = 0;              // likewise
  uint64_t bytes = 0;               // of the artifact on disk
  std::string compared;             // with the artifact in use before, on the pack's tests
  double seconds = 0;
};

struct TrainReport {
  std::string pack;
  std::vector<LanguageReport> languages;

  std::string table() const;
};

Result<TrainReport> train_pack(const TrainOptions& options, const Clock& clock);

// The same with encoders at hand, one per language of the pack, in its order.
Result<TrainReport> train_pack(const TrainOptions& options, const Clock& clock,
                               const std::vector<const nn::Encoder*>& encoders);

}  // namespace hengshi::train
