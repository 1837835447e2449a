// admission.h — who asks, whether they may, what they ask, and which tiers may answer.
//
// Errors:  kUnauthorized, kRateLimited, kInvalidRequest, kNotFound (model), kUnsupportedMedia. Fails closed.
#pragma once

#include "base/result.h"
#include "gateway/visit.h"

namespace hengshi::gateway {

// Key and rates, for any endpoint; fills visit.key and visit.rates.
Result<void> admit_key(Visit& visit);
// 415 for a body that says it is something else.
Result<void> require_json(const io::HttpRequest& http);
// The whole admission of a chat request.
Result<Ask> admit_chat(Visit& visit);
// Puts the request on a route: its times, plan, scope and identity follow from it.
void take_route(Visit& visit, Ask& ask, std::shared_ptr<const Route> route);

}  // namespace hengshi::gateway
