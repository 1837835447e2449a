// reply.h — answers and errors onto the wire, with the headers every response carries; and the record of it.
//
// Errors:  a client that has left is recorded as 499.
// Threads: on the visit's loop.
#pragma once

#include <string>
#include <string_view>

#include "gateway/visit.h"

namespace hengshi::gateway {

inline constexpr int kClientGone = 499;  // recorded, never sent

// A whole answer of a local tier, as JSON or as a replayed stream.
io::Task<void> reply(Visit& visit, const Ask& ask, const Answer& answer);
// A whole JSON body under the headers of an answer. False: the client has gone.
io::Task<bool> send_whole(Visit& visit, const Answer& answer, std::string_view body);
// An error body; also closes the record. `allow`: the methods there are, of a 405.
io::Task<void> refuse(Visit& visit, Error error, std::string_view allow = {});
// Any JSON body of the other endpoints; no record.
io::Task<void> send_json(Visit& visit, int status, std::string_view body);

// The head of a streamed answer; what relay() uses while its answer is still coming.
io::Task<bool> begin_stream(Visit& visit, const Answer& answer);
api::Extension extension_of(const Visit& visit, const Answer& answer);
// Ledger, metrics, access log; once per chat request.
void close_record(Visit& visit, const Ask* ask, const Answer& answer, int status);

}  // namespace hengshi::gateway
