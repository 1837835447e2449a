// weights.h — the numbers of a light model as one file.
//
// Shapes:  little-endian: magic "HSLIGHT3", the sizes, the judge, then every array in the order of heads.h, and last one
//          number per intent of each regression of the confidence, or none.
// Errors:  read_weights() says what does not hold: magic, size, order, a number that is not finite.
// Threads: values.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "light/judge.h"
#include "text/text.h"

namespace hengshi::light {

struct Weights {
  text::Language language = text::Language::kOther;
  uint32_t longest = 0;  // characters of a normal form; a longer question is not for this model
  Heads heads;
  Fusion fusion;
  Confidence confidence;
};

std::string write_weights(const Weights& weights);
Result<Weights> read_weights(std::string_view bytes);

}  // namespace hengshi::light
