// write_model.h — a tuned encoder as a model folder that nn::Encoder::load opens.
//
// Shapes:  model.safetensors: matrices as I8 by row, each with its scales "<name>.scale" f32[rows]; the rest F32. The
//          int8 numbers are those that serving makes of the fp32 matrices, so nothing is lost by storing them.
// Errors:  the path that could not be written; each file is there whole or not at all, the weights last.
// Threads: one writer per folder.
// Source:  docs/decisions/0009-tuning.md.
#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "tune/base_model.h"
#include "tune/layout.h"

namespace hengshi::tune {

// config.json, 1_Pooling and tokenizer.json are the base's; `name` goes into hengshi.json.
Result<void> write_model(const BaseModel& base, const Layout& layout, std::span<const float> parameters,
                         const std::string& name, const std::string& folder);

}  // namespace hengshi::tune
