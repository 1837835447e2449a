// tiers.h — the tiers that answer in this process: exact cache, rules, semantic cache, light model.
//
// Errors:  none: a tier that cannot answer says why in the record and the next one is asked.
// Threads: exact_hit and rule_answer run on the loop; weigh() runs on the compute pool and touches nothing of the
//          visit.
#pragma once

#include <optional>

#include "gateway/visit.h"

namespace hengshi::gateway {

std::optional<Answer> exact_hit(Visit& visit, const Ask& ask);
// Fills a rule's template; a rule that only routes changes ask.route.
std::optional<Answer> rule_answer(Visit& visit, Ask& ask);

// What the encoder and those that need its vector found.
struct Weighed {
  bool encoded = false;
  std::vector<float> embedding;
  Digest partition{};
  cache::SemanticResult similar;
  std::optional<light::Verdict> verdict;
  int64_t encode_us = 0, semantic_us = 0, light_us = 0;
};

// Encodes the question once, looks for a similar earlier one, and asks the light model when there is none.
io::Task<Weighed> weigh(Visit& visit, Ask& ask);

std::optional<Answer> similar_hit(Visit& visit, const Ask& ask, const Weighed& weighed);
// The light model's answer when it is confident enough; at the floor instead of the threshold when degraded.
std::optional<Answer> light_answer(Visit& visit, const Ask& ask, const Weighed& weighed, bool degraded);

}  // namespace hengshi::gateway
