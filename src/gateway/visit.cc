#include "gateway/visit.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace hengshi::gateway {

namespace {

constexpr size_t kMaxRequestId = 128;

std::string new_decision() {
  thread_local std::mt19937_64 random{std::random_device{}()};
  return fmt::format("{:016x}", random());
}

bool printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

// A client's own id is echoed when it is short and printable, so that it can never break a header or a log line.
std::string client_id(const io::HttpRequest& request) {
  for (const char* name : {"x-request-id", "x-client-request-id"}) {
    const std::string_view id = request.header(name);
    if (!id.empty() && id.size() <= kMaxRequestId && printable(id)) return std::string(id);
  }
  return {};
}

}  // namespace

Visit::Visit(Worker& with_worker, io::Exchange& on_exchange)
    : worker(with_worker),
      exchange(on_exchange),
      snapshot(with_worker.shared().snapshots.take()),
      started(with_worker.shared().clock.monotonic()),
      created_s(std::chrono::duration_cast<std::chrono::seconds>(with_worker.shared().clock.wall().time_since_epoch())
                    .count()),
      decision(new_decision()),
      request_id(client_id(on_exchange.request())) {
  if (request_id.empty()) request_id = "req-" + decision;
  record.at_us =
      std::chrono::duration_cast<std::chrono::microseconds>(with_worker.shared().clock.wall().time_since_epoch())
          .count();
  record.request_id = request_id;
  record.versions = snapshot->versions;
}

int64_t Visit::micros_since(Monotonic from) const {
  return std::chrono::duration_cast<std::chrono::microseconds>(worker.shared().clock.monotonic() - from).count();
}

void Visit::because(std::string_view step, std::string_view why) {
  if (!record.reasons.empty()) record.reasons += ' ';
  record.reasons += step;
  record.reasons += ':';
  record.reasons += why;
}

}  // namespace hengshi::gateway
