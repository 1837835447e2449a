#include "gateway/admission.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "gateway/sentences.h"
#include "text/personal.h"

namespace hengshi::gateway {

namespace {

constexpr int64_t kLongestDeadlineMs = 86'400'000;  // a day: routes are shorter anyway

}  // namespace

Result<void> require_json(const io::HttpRequest& http) {
  const std::string_view type = http.header("content-type");
  constexpr std::string_view kJson = "application/json";
  const bool json = std::equal(kJson.begin(), kJson.end(), type.begin(),
                               type.begin() + static_cast<ptrdiff_t>(std::min(type.size(), kJson.size())),
                               [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
  if (type.empty() || json) return {};
  return fail(ErrorCode::kUnsupportedMedia, "Send the body as 'Content-Type: application/json'.");
}

namespace {

Result<std::shared_ptr<const Route>> find_route(const Visit& visit, const std::string& model) {
  const auto& routes = visit.snapshot->by_model;
  if (const auto it = routes.find(model); it != routes.end()) return it->second;
  return fail(ErrorCode::kNotFound,
              fmt::format("The model '{}' does not exist here. GET /v1/models lists those that do.", shown(model)),
              "model", "model_not_found");
}

// Nothing when the client set none.
Result<std::optional<std::chrono::milliseconds>> client_deadline(const io::HttpRequest& http) {
  const std::string_view value = http.header("x-hengshi-deadline-ms");
  if (value.empty()) return std::nullopt;
  int64_t ms = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), ms);
  if (error != std::errc{} || end != value.data() + value.size() || ms <= 0) {
    return fail(ErrorCode::kInvalidRequest, "The header must be a whole number of milliseconds above 0.",
                "x-hengshi-deadline-ms");
  }
  return std::chrono::milliseconds(std::min<int64_t>(ms, kLongestDeadlineMs));
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

bool has_token(std::string_view header, std::string_view token) {
  return !header.empty() && lower(header).find(token) != std::string::npos;
}

void append_part(std::string& out, std::string_view part) {
  out += fmt::format_int(part.size()).c_str();  // Length first, so that no user name can pose as another's.
  out += ':';
  out += part;
}

// Tenant-wide only when the route says so and nothing of one user is in it.
std::string scope_of(const Visit& visit, const Route& route, const api::ChatRequest& request) {
  std::string out;
  append_part(out, visit.key->tenant);
  const bool shared = route.scope == Scope::kTenant && !request.has_history && !text::has_personal_data(request.body);
  if (shared) return out;
  // A front end that names the user in a header is believed before the body, which any client writes.
  std::string_view user;
  if (!visit.key->user_header.empty()) user = visit.exchange.request().header(visit.key->user_header);
  if (user.empty()) user = request.user;
  if (user.empty()) {
    out += "key";
    append_part(out, visit.key->name);
  } else {
    out += "user";
    append_part(out, user);
  }
  return out;
}

route::Facts facts_of(const Visit& visit, const Ask& ask) {
  const io::HttpRequest& http = visit.exchange.request();
  const std::string_view control = http.header("cache-control");
  const bool bypass = has_token(http.header("x-hengshi-cache"), "bypass");
  return {.concrete_model = ask.route->concrete,
          .has_question = !ask.request.question.empty(),
          .has_system = ask.request.has_system,
          .has_history = ask.request.has_history,
          .beyond_local = ask.request.beyond_local,
          .language = text::language_name(ask.language),
          .question_characters = text::count_characters(ask.request.question),
          .bypass_read = bypass || has_token(control, "no-cache") || has_token(control, "no-store"),
          .bypass_write = bypass || has_token(control, "no-store")};
}

}  // namespace

Result<void> admit_key(Visit& visit) {
  TRY(visit.key, visit.snapshot->keys.find(visit.exchange.request().header("authorization")));
  visit.record.tenant = visit.key->tenant;
  Limits& limits = visit.worker.shared().limits;
  auto admitted = limits.admit(*visit.key);
  visit.rates = admitted ? *admitted : limits.left(*visit.key);
  if (!admitted) return tl::unexpected(std::move(admitted.error()));
  return {};
}

void take_route(Visit& visit, Ask& ask, std::shared_ptr<const Route> route) {
  ask.route = std::move(route);
  const auto total = std::min(ask.client_deadline.value_or(ask.route->times.total), ask.route->times.total);
  ask.total = io::Deadline(visit.started + total);
  ask.first_answer = ask.total.earlier(visit.started + ask.route->times.first_answer);
  ask.plan = route::plan(facts_of(visit, ask), ask.route->policy);
  ask.scope = scope_of(visit, *ask.route, ask.request);
  std::string identity = ask.scope;
  identity.append(reinterpret_cast<const char*>(ask.request.fingerprint.data()), ask.request.fingerprint.size());
  identity += ask.request.question;
  ask.exact_id = digest(identity);
  visit.record.route = ask.route->name;
  if (!ask.plan.local_refused.empty()) visit.because("local", ask.plan.local_refused);
}

Result<Ask> admit_chat(Visit& visit) {
  TRY_OK(admit_key(visit));
  io::HttpRequest& http = visit.exchange.request();
  TRY_OK(require_json(http));
  TRY(auto request, api::parse_chat(std::move(http.body)));
  TRY(auto route, find_route(visit, request.model));
  TRY(const auto deadline, client_deadline(http));
  Ask ask{.request = std::move(request), .client_deadline = deadline};
  ask.language = text::detect_language(ask.request.question);
  take_route(visit, ask, std::move(route));
  visit.record.stream = ask.request.stream;
  visit.record.language = text::language_name(ask.language);
  visit.record.parse_us = visit.elapsed_us();
  return ask;
}

}  // namespace hengshi::gateway
