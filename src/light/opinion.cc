#include "light/opinion.h"

#include "text/shape.h"

namespace hengshi::light {

namespace {

// What is only rather outside has a low confidence, which refuses it as well and does not call an odd question foreign.
constexpr float kSurelyOutside = 0.12F;

}  // namespace

bool surely_outside(float scope) { return scope < kSurelyOutside; }

std::string_view unfit(std::string_view normalised, uint32_t longest) {
  if (text::count_characters(normalised) > longest) return "too_long";
  return text::unfit_shape(normalised);
}

Opinion form_opinion(const Weights& weights, std::string_view normalised, std::span<const float> embedding) {
  const Scores scores = score(weights.heads, weights.language, normalised, embedding);
  const Reading reading = read(weights.heads, weights.fusion, scores, embedding);
  Opinion out{reading.intent,
              weights.confidence.probability(reading.signals, reading.intent),
              weights.confidence.scope(reading.signals, reading.intent),
              {}};
  out.refused_because = unfit(normalised, weights.longest);
  if (out.refused_because.empty() && surely_outside(out.scope)) out.refused_because = "out_of_scope";
  return out;
}

}  // namespace hengshi::light
