#include "upstream/upstream.h"

#include <utility>

#include "upstream/answer.h"
#include "upstream/places.h"
#include "upstream/tally.h"

namespace hengshi::upstream {

struct Upstream::State {
  State(Options from, Metrics& metrics)
      : options(std::move(from)),
        instruments(metrics, options.name),
        places(std::make_shared<Places>(options.max_concurrent, options.queue_limit, instruments.in_flight,
                                        instruments.queue_depth)) {}

  Options options;
  Instruments instruments;
  std::shared_ptr<Places> places;
};

namespace {

io::ClientRequest request_to(const Options& options, std::string body, const CallHeaders& headers) {
  io::ClientRequest out;
  out.url = options.base_url;
  while (out.url.ends_with('/')) out.url.pop_back();
  out.url += "/chat/completions";
  out.headers = {{"Content-Type", "application/json"}, {"Accept", "text/event-stream"}};
  if (!options.api_key.empty()) out.headers.emplace_back("Authorization", "Bearer " + options.api_key);
  if (!headers.request_id.empty()) out.headers.emplace_back("x-request-id", headers.request_id);
  if (!headers.traceparent.empty()) out.headers.emplace_back("traceparent", headers.traceparent);
  out.body = std::move(body);
  out.proxy = options.proxy;
  out.ca_file = options.ca_file;
  out.connect_timeout = options.connect_timeout;
  return out;
}

}  // namespace

Upstream::Upstream(Options options, Metrics& metrics) : state_(std::make_shared<State>(std::move(options), metrics)) {}

Upstream::~Upstream() = default;

const Options& Upstream::options() const { return state_->options; }

void Upstream::saw_first_token(std::chrono::nanoseconds after) { state_->instruments.first_token.observe(after); }

io::Task<Result<std::unique_ptr<Answer>>> Upstream::ask(io::HttpClient& client, std::string body, CallHeaders headers,
                                                        io::Deadline deadline) {
  Tally tally(state_->instruments);
  auto place = co_await state_->places->take(deadline);
  if (!place) co_return tally.failed(std::move(place.error()));
  auto request = request_to(state_->options, std::move(body), headers);
  auto response = co_await client.open(std::move(request), deadline);
  if (!response) co_return tally.failed(std::move(response.error()));
  co_return co_await answer_of(*std::move(place), *std::move(response), std::move(tally), deadline);
}

}  // namespace hengshi::upstream
