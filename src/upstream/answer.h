// answer.h — what an upstream's response is: a refusal, a stream, or an answer that came whole.
//
// Errors:  as upstream.h says; every end is counted through the Tally.
// Threads: the loop of the call.
#pragma once

#include <memory>

#include "base/result.h"
#include "io/http_client.h"
#include "upstream/places.h"
#include "upstream/tally.h"
#include "upstream/upstream.h"

namespace hengshi::upstream {

io::Task<Result<std::unique_ptr<Answer>>> answer_of(Places::Place place, std::unique_ptr<io::ClientResponse> response,
                                                    Tally tally, io::Deadline deadline);

}  // namespace hengshi::upstream
