// pack_lint_parts.h — the checks behind pack_lint.h that look at one language of a pack.
//
// Shapes:  label = intent in the pack's order, or names.size() for a negative.
// Threads: pure; the learned ones use all cores.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "nn/encoder.h"
#include "train/pack_lint.h"

namespace hengshi::train {

struct LintRow {
  const Located* where = nullptr;
  std::string normalised;
  uint32_t label = 0;
};

struct LintRows {
  text::Language language = text::Language::kOther;
  std::vector<const PackIntent*> intents;
  std::vector<LintRow> rows;

  std::string named(uint32_t label) const;  // "intent refund", "a negative"
};

LintRows lint_rows(const Pack& pack, text::Language language);

// Repeats, shapes that are never answered, and how many phrasings each intent has.
void check_rows(const LintRows& rows, std::vector<Finding>& out);

// Pairs of different intents, or of an intent and a negative, whose n-grams are nearly the same.
void check_near_duplicates(const LintRows& rows, std::vector<Finding>& out);

// What classifiers that did not see a row make of it: likely wrong labels, leaks, intents to merge. Null: n-grams only.
void check_labels(const LintRows& rows, const nn::Encoder* encoder, const LintOptions& options,
                  std::vector<Finding>& out, std::vector<std::string>& notes);

}  // namespace hengshi::train
