// pack_lint.h — `hengshi pack lint`: what is wrong with a pack, or likely to be, worst first.
//
// Shapes:  one Finding per place; lists per kind are cut to `limit`, `counts` says how many there were.
// Errors:  files that cannot be read as a pack; findings are no errors.
// Threads: uses all cores; findings depend on pack, encoder and seed only.
// Source:  docs/pack.md; confident learning: Northcutt, Jiang, Chuang 2021, section 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "nn/encoder.h"
#include "train/pack.h"

namespace hengshi::train {

// In the order in which they are told.
enum class LintKind : uint8_t {
  kFault,          // training would refuse the pack
  kBadRule,        // the server would refuse its rules.toml
  kWrongLabel,     // a phrasing that other intents' phrasings explain better
  kLeak,           // a negative that reads like an intent, or the reverse
  kNearDuplicate,  // nearly one text in two intents
  kMerge,          // two intents that are taken for each other
  kFewPhrasings,
  kUnbalanced,   // far more phrasings than others have
  kUnreachable,  // a phrasing of a shape that is never answered
  kDuplicate,    // one text twice in one intent
  kUnusedSlot,   // a slot that no answer uses
};
inline constexpr size_t kLintKinds = 11;
std::string_view lint_kind_name(LintKind kind);

struct Finding {
  LintKind kind = LintKind::kFault;
  double score = 0;  // ranks within a kind
  std::string file;
  uint32_t line = 0;
  std::string what;
};

struct LintOptions {
  std::string pack;
  std::string models = "models";  // an encoder makes the learned checks sharper; without one n-grams do
  size_t limit = 10;              // of the findings of one kind
  uint64_t seed = 1;
  bool progress = true;
};

struct LintReport {
  std::string pack;
  size_t rows = 0;
  std::vector<Finding> findings;
  std::vector<std::pair<LintKind, size_t>> counts;  // of the kinds there are
  std::vector<std::string> notes;                   // checks that were left out, and why
  double seconds = 0;

  std::string table() const;
  std::string json() const;
};

Result<LintReport> lint_pack(const LintOptions& options);

// The same with encoders at hand, one per language of the pack in its order; null for none.
LintReport lint_pack(const Pack& pack, const LintOptions& options, const std::vector<const nn::Encoder*>& encoders);

}  // namespace hengshi::train
