// artifact.h — a trained light model on disk: one folder per pack and language.
//
//   manifest.json   what it is, from what, how good, its threshold, and the SHA-256 of every other file
//   weights.bin     weights.h
//   answers.json    answers.h
//   encoder/        only of a model that was tuned: the encoder its heads read, a model folder as nn/encoder.h opens
//
// Errors:  reading names the file, what does not hold and what to run; kNotFound when a file is missing, or when the folder
//          is none of a light model.
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
#include "light/light.h"
#include "light/weights.h"

namespace hengshi::light {

struct Manifest {
  std::string pack;
  text::Language language = text::Language::kOther;
  std::string encoder, encoder_version;
  std::string created;  // when this version was written: UTC, 2024-01-31T12:00:00Z
  std::string data_digest;
  uint64_t seed = 0;
  Threshold threshold;
  std::vector<std::pair<std::string, double>> metrics;  // name, value; shares in percent
  bool own_encoder = false;  // it is in the folder; else it is one of those that others use too
};

struct Artifact {
  Manifest manifest;
  std::string version;  // first 12 hex of the SHA-256 of the manifest, in which `created` is left empty
  Weights weights;
  AnswerBook answers;
};

Result<Artifact> read_artifact(const std::string& folder);

// Of what the manifest says, whether or not the other files are whole.
Result<std::string> artifact_version(const std::string& folder);

struct Written {
  std::string version;
  bool unchanged = false;  // that version was there already, whole, and was left alone
};

// Written aside and renamed over an older artifact in one step.
// `encoder`: the model folder of a tuned encoder, copied; empty: the heads read a shared one.
Result<Written> write_artifact(const std::string& folder, const Manifest& manifest, const Weights& weights,
                               const std::vector<IntentAnswers>& answers, const std::string& encoder = "");

// Of the folder and all that is in it.
uint64_t artifact_bytes(const std::string& folder);

// The same artifact with another threshold, written the same way.
Result<Written> write_threshold(const std::string& folder, const Threshold& threshold, const std::string& created);

}  // namespace hengshi::light
