#include "api/wire_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/log.h"

namespace hengshi::api {

namespace {

void append_number(std::string& out, double value) {
  constexpr int kDigits = 4;
  std::array<char, 32> digits;
  const auto [end, error] =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, kDigits);
  out.append(digits.data(), end);
}

void append_field(std::string& out, std::string_view name) {
  if (out.back() != '{') out += ',';
  ((out += '"') += name) += "\":";
}

void append_text(std::string& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  append_field(out, name);
  append_json_string(out, text);
}

void append_count(std::string& out, std::string_view name, int64_t count) {
  append_field(out, name);
  json::append_integer(out, count);
}

void append_share(std::string& out, std::string_view name, const std::optional<double>& share) {
  if (!share || !std::isfinite(*share)) return;
  append_field(out, name);
  append_number(out, *share);
}

constexpr int64_t kMostTokens = 1'000'000'000;  // more is no count, and sums must not overflow

int64_t count_of(const std::optional<json::Value>& object, std::string_view name) {
  if (!object) return 0;
  const auto value = object->find(name);
  return value ? std::clamp<int64_t>(value->integer().value_or(0), 0, kMostTokens) : 0;
}

bool holds_counts_only(json::Value value) {
  if (value.is(json::Kind::kNumber)) {
    const auto count = value.integer();
    return count && *count >= 0 && *count <= 2 * kMostTokens;  // A total is a sum of two.
  }
  for (const json::Value child : value) {
    if (!holds_counts_only(child)) return false;
  }
  return true;
}

// True when the field is there and says so.
bool says(json::Value object, std::string_view name, int64_t count) {
  const auto value = object.find(name);
  return value && value->is(json::Kind::kNumber) && value->integer() == count;
}

// Also true when the field, or the whole object, is not there or null.
bool agrees(const std::optional<json::Value>& object, std::string_view name, int64_t count) {
  if (!object || object->is(json::Kind::kNull)) return true;
  if (!object->is(json::Kind::kObject)) return false;
  const auto value = object->find(name);
  return !value || value->is(json::Kind::kNull) || says(*object, name, count);
}

}  // namespace

void append_usage(std::string& out, const Usage& usage) {
  out += R"({"prompt_tokens":)";
  json::append_integer(out, usage.prompt);
  out += R"(,"completion_tokens":)";
  json::append_integer(out, usage.completion);
  out += R"(,"total_tokens":)";
  json::append_integer(out, usage.prompt + usage.completion);
  out += R"(,"prompt_tokens_details":{"cached_tokens":)";
  json::append_integer(out, usage.cached);
  out += R"(,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":)";
  json::append_integer(out, usage.reasoning);
  out += R"(,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}})";
}

void append_extension(std::string& out, const Extension& extension) {
  out += '{';
  append_text(out, "path", extension.path);
  append_text(out, "model", extension.model);
  append_text(out, "decision", extension.decision);
  append_share(out, "confidence", extension.confidence);
  append_share(out, "threshold", extension.threshold);
  append_text(out, "asks", extension.asks);
  if (extension.cache_age_s) append_count(out, "cache_age_s", *extension.cache_age_s);
  append_text(out, "degraded", extension.degraded);
  append_field(out, "answered");
  out += extension.answered ? "true" : "false";
  if (extension.saved_tokens != 0) {
    append_field(out, "saved");
    out += '{';
    append_count(out, "tokens", extension.saved_tokens);
    out += '}';
  }
  append_count(out, "cost_micro_usd", extension.cost_micro_usd);
  if (extension.total_us != 0) append_count(out, "total_us", extension.total_us);
  out += '}';
}

void append_head(std::string& out, std::string_view id, std::string_view object, int64_t created,
                 std::string_view model) {
  out += R"({"id":)";
  append_json_string(out, id);
  out += R"(,"object":")";
  out += object;
  out += R"(","created":)";
  json::append_integer(out, created);
  out += R"(,"model":)";
  append_json_string(out, model);
  out += R"(,"service_tier":"default","system_fingerprint":null)";
}

std::string_view text_member(json::Value object, std::string_view name) {
  const auto value = object.find(name);
  return value && value->is(json::Kind::kString) ? value->text() : std::string_view();
}

void append_counts(std::string& out, json::Value usage) {
  const Usage counts = read_usage(usage);
  const bool sound = holds_counts_only(usage) && says(usage, "prompt_tokens", counts.prompt) &&
                     says(usage, "completion_tokens", counts.completion) &&
                     agrees(usage, "total_tokens", counts.prompt + counts.completion) &&
                     agrees(usage.find("prompt_tokens_details"), "cached_tokens", counts.cached) &&
                     agrees(usage.find("completion_tokens_details"), "reasoning_tokens", counts.reasoning);
  if (sound) {
    out += usage.raw();
  } else {
    append_usage(out, counts);
  }
}

Usage read_usage(json::Value usage) {
  const std::optional<json::Value> root(usage);
  Usage out;
  out.prompt = count_of(root, "prompt_tokens");
  out.completion = count_of(root, "completion_tokens");
  out.cached = std::min(out.prompt, count_of(usage.find("prompt_tokens_details"), "cached_tokens"));
  out.reasoning = std::min(out.completion, count_of(usage.find("completion_tokens_details"), "reasoning_tokens"));
  return out;
}

}  // namespace hengshi::api
