#include "upstream/answer.h"

#include <utility>

#include "api/errors.h"
#include "io/sse.h"
#include "upstream/retry_after.h"
#include "upstream/whole.h"

namespace hengshi::upstream {

namespace {

constexpr size_t kErrorBodyLimit = size_t{64} << 10;
constexpr size_t kWholeAnswerLimit = size_t{16} << 20;
constexpr std::chrono::seconds kErrorBodyTime{1};  // For the reason of a refusal; the refusal itself is known.
constexpr std::chrono::milliseconds kEndTime{10};  // From [DONE] to the end of the response.

bool is_json(std::string_view content_type) {
  constexpr std::string_view kJson = "application/json";
  if (content_type.size() < kJson.size()) return false;
  for (size_t i = 0; i < kJson.size(); ++i) {
    const char c = content_type[i];
    if ((c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != kJson[i]) return false;
  }
  return true;
}

// The body to its end, or as much of it as `limit` allows.
io::Task<Result<std::string>> read_all(io::ClientResponse& response, size_t limit, io::Deadline deadline) {
  std::string out;
  while (out.size() < limit) {
    CO_TRY(const std::string bytes, co_await response.read(deadline));
    if (bytes.empty()) break;
    out += bytes;
  }
  co_return out;
}

io::Task<Error> refusal(io::ClientResponse& response, io::Deadline deadline) {
  const int retry = retry_after_s(response.header("retry-after"), std::chrono::system_clock::now());
  const io::Deadline until = deadline.earlier(std::chrono::steady_clock::now() + kErrorBodyTime);
  const auto body = co_await read_all(response, kErrorBodyLimit, until);
  co_return api::read_upstream_error(response.status(), body ? *body : std::string(), retry);
}

// Data events of a stream. The response goes before the place: a call has ended when its place is free.
class StreamedAnswer final : public Answer {
 public:
  StreamedAnswer(Places::Place place, std::unique_ptr<io::ClientResponse> response, Tally tally)
      : place_(std::move(place)), response_(std::move(response)), tally_(std::move(tally)) {}

  io::Task<Result<std::vector<std::string>>> next(io::Deadline deadline) override {
    std::vector<std::string> out = take_events();
    while (out.empty() && !done_) {
      auto bytes = co_await response_->read(deadline);
      if (!bytes) co_return tally_.failed(std::move(bytes.error()));
      if (bytes->empty()) {
        co_return tally_.failed({ErrorCode::kUpstream, "The upstream's stream ended before its answer did."});
      }
      if (auto fed = parser_.feed(*bytes); !fed) co_return tally_.failed(std::move(fed.error()));
      out = take_events();
    }
    if (out.empty()) {
      tally_.end(Outcome::kOk);
      const Places::Place freed = std::move(place_);
    }
    co_return out;
  }

  // Only a response read to its end leaves its connection to the next call. What else it may say is of no interest.
  io::Task<void> close() override { (void)co_await response_->read(io::Deadline::after(kEndTime)); }

  void reject(const Error& error) override { tally_.end(outcome_of(error.code)); }

 private:
  std::vector<std::string> take_events() {
    std::vector<std::string> out;
    io::SseEvent event;
    while (!done_ && parser_.next(event)) {
      done_ = event.data == "[DONE]";
      if (!done_ && !event.data.empty()) out.push_back(std::move(event.data));
    }
    return out;
  }

  Places::Place place_;
  std::unique_ptr<io::ClientResponse> response_;
  Tally tally_;
  io::SseParser parser_;
  bool done_ = false;
};

// The chunks of an answer that came whole.
class WholeAnswer final : public Answer {
 public:
  WholeAnswer(std::vector<std::string> chunks, Tally tally) : chunks_(std::move(chunks)), tally_(std::move(tally)) {}

  io::Task<Result<std::vector<std::string>>> next(io::Deadline /*deadline*/) override {
    if (chunks_.empty()) tally_.end(Outcome::kOk);
    co_return std::exchange(chunks_, {});
  }

  void reject(const Error& error) override { tally_.end(outcome_of(error.code)); }

 private:
  std::vector<std::string> chunks_;
  Tally tally_;
};

io::Task<Result<std::vector<std::string>>> read_whole(io::ClientResponse& response, io::Deadline deadline) {
  CO_TRY(const std::string body, co_await read_all(response, kWholeAnswerLimit, deadline));
  co_return chunks_of(body);
}

}  // namespace

io::Task<Result<std::unique_ptr<Answer>>> answer_of(Places::Place place, std::unique_ptr<io::ClientResponse> response,
                                                    Tally tally, io::Deadline deadline) {
  const int status = response->status();
  if (status < 200 || status > 299) {
    Error refused = co_await refusal(*response, deadline);
    co_return tally.failed(std::move(refused));
  }
  if (is_json(response->header("content-type"))) {
    auto chunks = co_await read_whole(*response, deadline);
    if (!chunks) co_return tally.failed(std::move(chunks.error()));
    co_return std::make_unique<WholeAnswer>(*std::move(chunks), std::move(tally));
  }
  co_return std::make_unique<StreamedAnswer>(std::move(place), std::move(response), std::move(tally));
}

}  // namespace hengshi::upstream
