#include "gateway/pipeline.h"

#include "gateway/admission.h"
#include "gateway/relay.h"
#include "gateway/reply.h"
#include "gateway/tiers.h"

namespace hengshi::gateway {

// Cheapest first: each tier either answers or says in the record why it did not.
io::Task<void> serve(Worker& worker, io::Exchange& exchange) {
  Visit visit(worker, exchange);

  auto admitted = admit_chat(visit);  // key, rates, JSON, route, deadline; which tiers may answer
  if (!admitted) {
    co_await refuse(visit, std::move(admitted.error()));
    co_return;
  }
  Ask& ask = *admitted;

  std::optional<Answer> answer = exact_hit(visit, ask);  // microseconds: the same request in the same scope
  if (!answer) answer = rule_answer(visit, ask);         // microseconds: a pattern an operator wrote

  Weighed weighed;
  if (!answer) {
    weighed = co_await weigh(visit, ask);  // a millisecond, on the pool: encode once for both of these
    answer = similar_hit(visit, ask, weighed);
    if (!answer) answer = light_answer(visit, ask, weighed, /*degraded=*/false);
  }

  if (answer) {
    co_await reply(visit, ask, *answer);
  } else {
    co_await relay(visit, ask, weighed);  // upstream, streamed; degrades when it must; stores what finished well
  }
}

}  // namespace hengshi::gateway
