#include <algorithm>
#include <utility>

#include "upstream/upstream.h"

namespace hengshi::upstream {

namespace {

// The client's own fault: no other upstream would say otherwise.
bool ends_the_chain(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidRequest:
    case ErrorCode::kNotFound:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnprocessable:
    case ErrorCode::kCancelled: return true;
    default: return false;
  }
}

// Two thirds of what is left, so that a silent upstream leaves time for the next; all of it for the last one.
io::Deadline share(io::Deadline budget, bool last) {
  if (last) return budget;
  return budget.earlier(std::chrono::steady_clock::now() + budget.left() * 2 / 3);
}

io::Task<Result<void>> read_to_first_token(Opened& opened, io::Deadline deadline) {
  const auto visible = [](const Chunk& chunk) { return chunk.seen.visible; };
  for (size_t looked_at = 0; !opened.ended; looked_at = opened.chunks.size()) {
    CO_TRY_OK(co_await opened.more(deadline));
    const auto fresh = std::span(opened.chunks).subspan(looked_at);
    if (std::ranges::any_of(fresh, visible)) co_return Result<void>{};
  }
  if (!opened.assembler.finished()) co_return fail(ErrorCode::kUpstream, "The upstream's answer is not finished.");
  co_return Result<void>{};
}

io::Task<Result<Opened>> attempt(Upstream& upstream, io::HttpClient& client, const api::ChatRequest& request,
                                 CallHeaders headers, io::Deadline deadline) {
  const auto start = std::chrono::steady_clock::now();
  Opened out;
  out.upstream = &upstream;
  auto body = api::upstream_body(request, upstream.options().model);
  CO_TRY(out.answer, co_await upstream.ask(client, std::move(body), std::move(headers), deadline));
  CO_TRY_OK(co_await read_to_first_token(out, deadline));
  upstream.saw_first_token(std::chrono::steady_clock::now() - start);
  co_return std::move(out);
}

}  // namespace

io::Task<Result<void>> Opened::more(io::Deadline deadline) {
  if (fault) co_return tl::unexpected(*fault);
  auto batch = co_await answer->next(deadline);
  if (!batch && !assembler.finished()) co_return tl::unexpected(std::move(batch.error()));
  ended = !batch || batch->empty();
  if (ended) co_return Result<void>{};
  const size_t before = chunks.size();
  for (std::string& data : *batch) {
    auto seen = assembler.add(data);
    if (!seen) {
      fault = std::move(seen.error());
      answer->reject(*fault);
      if (chunks.size() == before) co_return tl::unexpected(*fault);
      break;
    }
    chunks.push_back({std::move(data), *seen});
  }
  co_return Result<void>{};
}

io::Task<Result<Opened>> open_first(std::span<Upstream* const> chain, io::HttpClient& client,
                                    const api::ChatRequest& request, CallHeaders headers, io::Deadline first_answer,
                                    std::vector<Attempt>* attempts) {
  Error last{ErrorCode::kOverloaded, "No upstream is configured for this route."};
  const Upstream* failed = nullptr;
  for (size_t i = 0; i < chain.size(); ++i) {
    if (chain[i] == failed) continue;
    if (failed != nullptr && first_answer.passed()) break;
    auto opened = co_await attempt(*chain[i], client, request, headers, share(first_answer, i + 1 == chain.size()));
    if (opened) co_return std::move(opened);
    failed = chain[i];
    last = std::move(opened.error());
    attempts->push_back({chain[i]->options().name, last});
    if (ends_the_chain(last.code)) break;
  }
  co_return tl::unexpected(std::move(last));
}

}  // namespace hengshi::upstream
