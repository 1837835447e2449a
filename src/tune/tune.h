// tune.h — trains an encoder and a task's head together, from labelled token ids.
//
// Shapes:  ids int32[1 … max_tokens], with the tokenizer's own first and last.
// Units:   loss in nats per text, accuracy in percent, times in seconds, memory in bytes.
// Errors:  a loss that is not finite; more memory than there is; a checkpoint that cannot be written (the older one
//          stays whole). Each says what to change.
// Threads: uses two; the result depends on base model, texts, options and seed only, not on timing, and is the same
//          after a kill and a resume from the checkpoint.
// Source:  docs/decisions/0009-tuning.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "tune/base_model.h"
#include "tune/optimiser.h"
#include "tune/task.h"

namespace hengshi::tune {

struct LabelledIds {
  std::span<const uint32_t> labels;
  // The ids of a row in a pass from 1; another pass may word it otherwise, the same pass never.
  std::function<std::vector<int32_t>(size_t row, size_t pass)> ids;
};

struct TuneOptions {
  uint64_t seed = 1;
  size_t passes = 5;  // over the training rows
  size_t batch = 64;
  size_t max_tokens = 64;  // of a training text; the tail of a longer one is cut
  float dropout = 0.1F;
  double warm_up = 0.1;  // share of all steps
  size_t patience = 3;   // stop when so many validations in a row were no better
  size_t lora = 0;       // rank of the changes to each matrix; 0: every weight is free
  AdamOptions adam;
  std::string checkpoint;         // file; empty: none is written
  size_t checkpoint_every = 100;  // steps
};

struct Validation {
  size_t step = 0;
  double train_loss = 0, loss = 0, accuracy = 0;  // train_loss: mean since the last
};

struct TuneProgress {
  size_t step = 0, steps = 0;
  double loss = 0, accuracy = 0;  // running means over training texts
  double seconds_left = 0;
  const Validation* last = nullptr;  // none yet: null
};

struct Tuned {
  std::vector<float> parameters;  // of the layout: encoder, then head
  std::vector<Validation> history;
  size_t steps = 0, best_step = 0;
};

// Bytes that tune() will hold at most, before it holds them.
size_t memory_plan(const BaseModel& base, const Layout& layout, const TuneOptions& options);

// `layout` already holds the task's part. Without validation rows the last parameters are kept, else the best: the
// lowest validation loss.
Result<Tuned> tune(const BaseModel& base, const Layout& layout, Task& task, const LabelledIds& train,
                   const LabelledIds& validation, const TuneOptions& options,
                   const std::function<void(const TuneProgress&)>& on_progress = {});

}  // namespace hengshi::tune
