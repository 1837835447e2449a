#include "route/route.h"

namespace hengshi::route {

namespace {

std::string_view local_refusal(const Facts& facts, const Policy& policy) {
  if (facts.concrete_model) return "concrete_model";
  if (!facts.beyond_local.empty()) return facts.beyond_local;
  if (facts.has_history) return "history";
  if (!facts.has_question) return "no_question";
  if (facts.has_system && !policy.ignore_system) return "system";
  if (facts.question_characters > policy.max_local_characters) return "long";
  return {};
}

}  // namespace

Plan plan(const Facts& facts, const Policy& policy) {
  Plan out;
  out.local_refused = local_refusal(facts, policy);
  // A semantic hit needs the same strict fingerprint, so a system prompt does not keep it out: only what a stored
  // answer to another wording cannot honour does.
  const bool semantic_possible = out.local_refused.empty() || out.local_refused == "system";
  const bool other_language = facts.language == "other";
  out.read_exact = policy.exact && !facts.bypass_read;
  out.write_exact = policy.exact && !facts.bypass_write;
  out.read_semantic = policy.semantic && semantic_possible && !other_language && !facts.bypass_read;
  out.write_semantic = policy.semantic && semantic_possible && !other_language && !facts.bypass_write;
  out.rules = policy.rules && out.local_refused.empty();
  out.light = policy.light && out.local_refused.empty() && !other_language;
  return out;
}

}  // namespace hengshi::route
