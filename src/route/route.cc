#include "route/route.h"

namespace hengshi::route {

namespace {

// Why no answer to another wording can serve: the tiers that understand a question see only its text, and not all of a
// long one.
std::string_view meaning_refusal(const Facts& facts, const Policy& policy) {
  if (facts.concrete_model) return "concrete_model";
  if (!facts.beyond_local.empty()) return facts.beyond_local;
  if (facts.has_history) return "history";
  if (!facts.has_question) return "no_question";
  if (facts.question_characters > policy.max_local_characters) return "long";
  return {};
}

}  // namespace

Plan plan(const Facts& facts, const Policy& policy) {
  Plan out;
  out.local_refused = meaning_refusal(facts, policy);
  // A semantic hit has the same fingerprint, so the same system prompt: only rules and light do not know it.
  // The guards that watch over it know Chinese and English only.
  const bool semantic_possible = out.local_refused.empty() && facts.language != "other";
  if (out.local_refused.empty() && facts.has_system && !policy.ignore_system) out.local_refused = "system";
  out.read_exact = policy.exact && !facts.bypass_read;
  out.write_exact = policy.exact && !facts.bypass_write;
  out.read_semantic = policy.semantic && semantic_possible && !facts.bypass_read;
  out.write_semantic = policy.semantic && semantic_possible && !facts.bypass_write;
  out.rules = policy.rules && out.local_refused.empty();
  out.light = policy.light && out.local_refused.empty();
  return out;
}

}  // namespace hengshi::route
