// upstream.h — models that answer elsewhere: one call, and a chain of them until the first visible token.
//
// Units:   times in std::chrono; prices in micro-USD per million tokens.
// Errors:  kUpstream, kDeadline, kOverloaded (queue full), kRateLimited, kInvalidRequest … as api::read_upstream_error maps
//          them. Never a key, a prompt or a raw body in a message.
// Threads: an Upstream is shared by all loops; a call and its Answer belong to the loop that made it.
// Source:  docs/decisions/0008-upstream.md.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/chat.h"
#include "base/metrics.h"
#include "base/money.h"
#include "base/result.h"
#include "io/http_client.h"
#include "io/task.h"

namespace hengshi::upstream {

struct Options {
  std::string name;
  std::string base_url;  // "https://host/v1"
  std::string model;     // the name the upstream knows
  std::string api_key;   // read from api_key_env; never logged
  std::string proxy;     // empty: as the environment says
  std::string ca_file;   // PEM file of the authorities that may sign its certificate; empty: the system's
  Price price;
  int max_concurrent = 64;
  int queue_limit = 128;  // calls waiting for a place; more are refused
  std::chrono::milliseconds connect_timeout{1'000};

  bool operator==(const Options&) const = default;
};

struct Times {
  std::chrono::milliseconds first_answer{1'500};
  std::chrono::milliseconds between_tokens{10'000};
  std::chrono::milliseconds total{60'000};
};

// One answer under way, chunk by chunk. Destroying it cancels the call and frees its place; its Upstream outlives it.
class Answer {
 public:
  virtual ~Answer() = default;
  // Data of every SSE event that has come, one at least; none at [DONE], when the call's place is free again. kUpstream
  // when the stream ends without it.
  virtual io::Task<Result<std::vector<std::string>>> next(io::Deadline deadline) = 0;
  // After the last chunk: leaves the connection to the next call. Without it the connection is closed.
  virtual io::Task<void> close() { co_return; }
  // The reader found a chunk to be none, or an error: the call counts as failed so.
  virtual void reject(const Error& /*error*/) {}
};

// What is passed on to the upstream beside the body.
struct CallHeaders {
  std::string request_id;
  std::string traceparent;
};

class Upstream {  // one provider and model, its places and its counters
 public:
  Upstream(Options options, Metrics& metrics);
  ~Upstream();
  const Options& options() const;
  io::Task<Result<std::unique_ptr<Answer>>> ask(io::HttpClient& client, std::string body, CallHeaders headers,
                                                io::Deadline deadline);
  void saw_first_token(std::chrono::nanoseconds after);  // for hengshi_upstream_seconds

 private:
  struct State;
  std::shared_ptr<State> state_;
};

struct Chunk {
  std::string data;
  api::Assembler::Seen seen;
};

// The chain's result: who answers, and every chunk that came up to the first visible token (or the end).
struct Opened {
  Upstream* upstream = nullptr;
  std::unique_ptr<Answer> answer;
  api::Assembler assembler;    // of all chunks so far
  std::vector<Chunk> chunks;   // for the reader to take away
  bool ended = false;          // no more will come
  std::optional<Error> fault;  // found behind `chunks`: what the next more() says

  // Adds the chunks that come next, or ends. An answer that is whole has ended though nobody said [DONE].
  io::Task<Result<void>> more(io::Deadline deadline);
};

struct Attempt {  // for the record: why one was left
  std::string_view upstream;
  Error error;
};

// Asks each in order until one shows a visible token inside `first_answer` (over all of them together); a client's fault
// (400, 404, 413, 422) ends the chain at once. A 429 or 503 moves on. `attempts` gets every failure.
// With none left the last error is returned.
io::Task<Result<Opened>> open_first(std::span<Upstream* const> chain, io::HttpClient& client,
                                    const api::ChatRequest& request, CallHeaders headers, io::Deadline first_answer,
                                    std::vector<Attempt>* attempts);

}  // namespace hengshi::upstream
