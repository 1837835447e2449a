// light.h — the light model: question and embedding in, intent, answer, confidence and refusal out.
//
// Shapes:  embedding f32[encoder dim], L2 norm 1.
// Units:   confidence = fitted probability in [0, 1] that this answer is right.
// Errors:  load() refuses an artifact whose hashes, version or encoder do not match, naming file and fix.
// Threads: immutable once loaded; ask() from any thread.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "text/text.h"

namespace hengshi::light {

struct Threshold {
  double value = 1;         // from 1 on nothing is answered
  double floor = 1;         // meets the aim too, but without a margin: for when nothing better can answer
  double aim = 0.95;        // precision aimed at among answered questions
  std::string how;          // how it was chosen, in words
  bool calibrated = false;  // on labelled questions, by `hengshi calibrate`; else by training

  bool never() const { return value >= 1; }
  std::string in_words() const;  // "0.857", or "never"
};

struct Verdict {
  std::string_view intent;  // best in-scope intent
  double confidence = 0;
  double threshold = 0;  // of the artifact for this language
  double floor = 0;      // likewise, for when nothing better can answer
  bool refused = false;  // out of scope, or no answer can be given, whatever the confidence
  std::string_view refused_because;
  std::string answer;     // filled, or the sentence that asks; empty only when refused
  std::string_view asks;  // the slot that `answer` asks for, because the question left it out; empty: it answers
};

class Model {  // one artifact: one pack in one language on one encoder
 public:
  static Result<std::shared_ptr<const Model>> load(const std::string& folder);
  virtual ~Model() = default;
  // `key` picks among an intent's several answers: the same key, the same answer.
  virtual Verdict ask(std::string_view question, std::span<const float> embedding, uint64_t key) const = 0;
  virtual text::Language language() const = 0;
  virtual const std::string& name() const = 0;     // of the pack
  virtual const std::string& version() const = 0;  // 12 hex, as in artifact.h
  virtual const std::string& encoder_version() const = 0;
  virtual bool has_own_encoder() const = 0;  // then ask() does not look at `embedding`
  virtual size_t intents() const = 0;
  virtual const Threshold& threshold() const = 0;
};

}  // namespace hengshi::light
