#include "light/opinion.h"

namespace hengshi::light {

Opinion form_opinion(const Weights& weights, std::string_view normalised, std::span<const float> embedding) {
  const Scores scores = score(weights.heads, weights.language, normalised, embedding);
  const Reading reading = read(weights.heads, weights.fusion, scores, embedding);
  Opinion out{reading.intent, weights.confidence.probability(reading.signals), {}};
  if (text::count_characters(normalised) > weights.longest) {
    out.refused_because = "too_long";
  } else if (reading.out_of_scope) {
    out.refused_because = "out_of_scope";
  }
  return out;
}

}  // namespace hengshi::light
