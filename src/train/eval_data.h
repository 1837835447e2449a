// eval_data.h — the files of an evaluation, sorted into what trains, what tunes and what tests.
//
// Shapes:  label = intent, in alphabetical order; `intents` for out of scope; `kUnlearnable` for a test row whose
//          label training never names.
// Errors:  see rows.h and pack.h; fewer than two intents is an error.
// Threads: values.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "base/result.h"
#include "train/embed.h"
#include "train/eval_intent.h"

namespace hengshi::train {

inline constexpr uint32_t kUnlearnable = std::numeric_limits<uint32_t>::max();

struct EvalData {
  text::Language language = text::Language::kOther;
  std::vector<std::string> intents;
  double oos_share = 0;  // as asked for, or its default
  std::vector<Question> train, dev, test;
};

Result<EvalData> read_eval_data(const EvalIntentOptions& options);

}  // namespace hengshi::train
