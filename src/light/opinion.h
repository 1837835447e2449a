// opinion.h — what a light model makes of one question, before any answer is written; serving and evaluation share it.
//
// Units:   confidence = fitted probability in [0, 1] that the intent named is the question's; scope likewise.
// Errors:  none.
// Threads: pure.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "light/weights.h"

namespace hengshi::light {

struct Opinion {
  uint32_t intent = 0;
  float confidence = 0;
  float scope = 0;                   // probability that the question is in scope
  std::string_view refused_because;  // empty, what unfit() says, or "out_of_scope"
};

// Why a question is never answered, whatever the heads make of it: "too_long" (for this model or for any), "code",
// "several_questions"; empty when it may be.
std::string_view unfit(std::string_view normalised, uint32_t longest);

bool surely_outside(float scope);  // then it is called out of scope

Opinion form_opinion(const Weights& weights, std::string_view normalised, std::span<const float> embedding);

}  // namespace hengshi::light
