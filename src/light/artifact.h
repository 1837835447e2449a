// artifact.h — a trained light model on disk: one folder per pack and language.
//
//   manifest.json   what it is, from what, how good, its threshold, and the SHA-256 of every other file
//   weights.bin     weights.h
//   answers.json    answers.h
//   encoder/        only of a model that was tuned: the encoder its heads read, a model folder as nn/encoder.h opens
//
// Errors:  reading names the file, what does not hold and what to run; kNotFound when a file is missing.
//          Writing names the path that could not be written; the old artifact stays whole.
// Threads: free functions; one writer per folder.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "light/answers.h"
#include "light/weights.h"

namespace hengshi::light {

struct Threshold {
  double value = 1;
  double floor = 1;   // meets the aim too, but without a margin: for when nothing better can answer
  double aim = 0.95;  // precision aimed at among answered questions
  std::string how;    // how it was chosen, in words
};

struct Manifest {
  std::string pack;
  text::Language language = text::Language::kOther;
  std::string encoder, encoder_version;
  std::string created;  // UTC, 2024-01-31T12:00:00Z
  std::string data_digest;
  uint64_t seed = 0;
  Threshold threshold;
  std::vector<std::pair<std::string, double>> metrics;  // name, value; shares in percent
  bool own_encoder = false;  // it is in the folder; else it is one of those that others use too
};

struct Artifact {
  Manifest manifest;
  std::string version;  // first 12 hex of the manifest's SHA-256
  Weights weights;
  AnswerBook answers;
};

Result<Artifact> read_artifact(const std::string& folder);

// Written aside and renamed over an older artifact in one step. Returns the version.
// `encoder`: the model folder of a tuned encoder, copied; empty: the heads read a shared one.
Result<std::string> write_artifact(const std::string& folder, const Manifest& manifest, const Weights& weights,
                                   const std::vector<IntentAnswers>& answers, const std::string& encoder = "");

// Of the folder and all that is in it.
uint64_t artifact_bytes(const std::string& folder);

// The same artifact with another threshold, written the same way. Returns the version.
Result<std::string> write_threshold(const std::string& folder, const Threshold& threshold);

}  // namespace hengshi::light
