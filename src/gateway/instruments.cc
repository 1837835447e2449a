#include "gateway/instruments.h"

namespace hengshi::gateway {

Instruments::PerTenant& Instruments::tenant(std::string_view name) {
  if (const auto it = tenants_.find(name); it != tenants_.end()) return it->second;
  const Labels labels = {{"tenant", std::string(name)}};
  PerTenant made{
      .prompt_tokens = &metrics_.counter("hengshi_prompt_tokens_total", "Prompt tokens of answers given.", labels),
      .completion_tokens =
          &metrics_.counter("hengshi_completion_tokens_total", "Completion tokens of answers given.", labels),
      .saved_tokens = &metrics_.counter("hengshi_saved_tokens_total", "Tokens no upstream was asked for.", labels),
      .cost = &metrics_.counter("hengshi_cost_micro_usd_total", "Cost of upstream calls, micro-USD.", labels)};
  return tenants_.emplace(name, made).first->second;
}

void Instruments::finished(const Finished& request) {
  const auto path = static_cast<size_t>(request.path);
  PerTenant& counters = tenant(request.tenant);
  if (request.path == Path::kError) {
    metrics_
        .counter("hengshi_errors_total", "Requests answered with an error, by status.",
                 {{"tenant", std::string(request.tenant)}, {"status", std::to_string(request.status)}})
        .add();
  }
  if (counters.requests[path] == nullptr) {
    counters.requests[path] =
        &metrics_.counter("hengshi_requests_total", "Requests, by the path that answered.",
                          {{"tenant", std::string(request.tenant)}, {"path", std::string(kPathNames[path])}});
  }
  if (seconds_[path] == nullptr) {
    seconds_[path] = &metrics_.histogram("hengshi_request_seconds", "Time from admission to the last byte, by path.",
                                         {{"path", std::string(kPathNames[path])}});
  }
  counters.requests[path]->add();
  seconds_[path]->observe(request.elapsed);
  counters.prompt_tokens->add(request.prompt_tokens);
  counters.completion_tokens->add(request.completion_tokens);
  counters.saved_tokens->add(request.saved_tokens);
  counters.cost->add(request.cost_micro_usd);
}

void Instruments::fail_open(std::string_view part) {
  metrics_
      .counter("hengshi_fail_open_total", "Times a part failed and the request was served without it.",
               {{"part", std::string(part)}})
      .add();
}

}  // namespace hengshi::gateway
