// embeddings.h — POST /v1/embeddings by the encoders in this process.
//
// Errors:  as the wire: 400 with param, 404 for a model that is not an encoder here, 503 when the pool is full.
// Threads: on the visit's loop; the encoding on the compute pool.
#pragma once

#include "gateway/visit.h"

namespace hengshi::gateway {

io::Task<void> serve_embeddings(Worker& worker, io::Exchange& exchange);

}  // namespace hengshi::gateway
