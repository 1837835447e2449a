// pipeline.h — the life of a chat request, in one function.
//
// Errors:  every failure is answered; nothing is thrown on.
// Threads: on the exchange's loop.
#pragma once

#include "gateway/worker.h"

namespace hengshi::gateway {

io::Task<void> serve(Worker& worker, io::Exchange& exchange);

}  // namespace hengshi::gateway
