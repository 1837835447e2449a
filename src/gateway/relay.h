// relay.h — asks the upstreams, passes their answer on as it comes, and degrades honestly when none comes in time.
//
// Errors:  a client's fault at the upstream comes back mapped; anything else ends in degraded.3, an apology or 503, as
//          the route says. After the first byte of a stream: an error event and a close.
// Threads: on the visit's loop; the client leaving cancels the upstream call.
#pragma once

#include "gateway/tiers.h"
#include "gateway/visit.h"

namespace hengshi::gateway {

io::Task<void> relay(Visit& visit, Ask& ask, const Weighed& weighed);

}  // namespace hengshi::gateway
