// admission.h — who asks, whether they may, what they ask, and which tiers may answer.
//
// Errors:  kUnauthorized, kRateLimited, kInvalidRequest, kNotFound (model), kUnsupportedMedia. Fails closed.
#pragma once

#include "base/result.h"
#include "gateway/visit.h"

namespace hengshi::gateway {

// Key and rates, for any endpoint; fills visit.key and visit.rates.
Result<void> admit_key(Visit& visit);
// The whole admission of a chat request.
Result<Ask> admit_chat(Visit& visit);

}  // namespace hengshi::gateway
