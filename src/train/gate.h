// gate.h — whether a new artifact may take the place of the one in use: both answer the pack's own tests.
//
// Units:   accuracy, precision and coverage in percent, ECE a plain number, times in microseconds, sizes in bytes.
// Errors:  tests.jsonl: "file:line: what is wrong; what to write". A pack without one is not compared.
// Threads: free functions.
// Source:  docs/pack.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "light/light.h"
#include "nn/encoder.h"
#include "train/pack.h"

namespace hengshi::train {

struct PackTest {
  std::string text, label;  // label: an intent of the pack, or kOutOfScope
};

// The rows of one language in the pack folder's tests.jsonl, or beside shop.jsonl in shop.tests.jsonl; none when there is
// no such file.
Result<std::vector<PackTest>> read_pack_tests(const Pack& pack, text::Language language);

struct GateFigures {
  double accuracy = 0;       // the intent named, or refused when out of scope
  double precision = 0;      // right among answered, at the artifact's threshold
  double coverage = 0;       // answered among all
  double ece = 0;            // of the confidence, over rows not refused
  double us_p50 = 0;         // to ask the model, the base encoder's vector at hand
  uint64_t bytes = 0;        // of the artifact on disk
  bool own_encoder = false;  // tuned: it encodes by itself
};

// What the new one may not be put in use for. Time and size are compared between models of one kind only.
std::vector<std::string> what_is_worse(const GateFigures& before, const GateFigures& after);

struct Gate {
  size_t tests = 0;
  GateFigures before, after;
  std::vector<std::string> worse;  // what the new artifact may not be put in use for; empty: it may

  std::string table() const;
};

struct Candidate {
  const light::Model& model;
  uint64_t bytes = 0;
};

// Both are asked in turn, so that a busy machine is as hard on the one as on the other.
Gate compare_on_tests(const Candidate& before, const Candidate& after, const nn::Encoder& encoder,
                      const std::vector<PackTest>& tests);

}  // namespace hengshi::train
