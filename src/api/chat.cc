#include "api/chat.h"

#include "api/canonical.h"
#include "api/chat_fields.h"
#include "api/json.h"
#include "api/splice.h"
#include "base/check.h"
#include "base/log.h"

namespace hengshi::api {

using json::Document;
using json::Kind;
using json::Value;

namespace {

// Canonical JSON of what shapes the answer, each text of the question a marker. How a question of several texts is
// cut is kept, since joined they could read the same.
Digest fingerprint(const Document& document, const ChatReading& reading) {
  thread_local std::string canonical;
  canonical.clear();
  json::Canonical(reading.question).members(canonical, document, reading.fingerprinted);
  if (reading.question.size() > 1) {
    for (const uint32_t text : reading.question) {
      canonical += '|';
      json::append_integer(canonical, static_cast<int64_t>(document.at(text).text().size()));
    }
  }
  const Digest result = digest(canonical);
  constexpr size_t kKeep = size_t{1} << 20;
  if (canonical.capacity() > kKeep) canonical = {};
  return result;
}

// The client's own options survive; only usage is asked for in any case.
void append_stream_options(std::string& out, Value options) {
  if (!options.is(Kind::kObject)) {
    out += R"({"include_usage":true})";
    return;
  }
  json::Splice splice(out, options);
  bool asked = false;
  for (const Value option : options) {
    if (option.key() == "include_usage") {
      splice.replace(option, "true");
      asked = true;
    } else {
      splice.keep(option);
    }
  }
  if (!asked) {
    splice.add();
    out += R"("include_usage":true)";
  }
  splice.finish();
}

}  // namespace

Result<ChatRequest> parse_chat(std::string body) {
  body.reserve(body.size() + json::kPadding);
  Document& document = Document::of_thread();
  TRY(const Value root, document.parse(body, body.capacity()));
  if (!root.is(Kind::kObject)) {
    return fail(ErrorCode::kInvalidRequest, "The body must be a JSON object.", {}, "invalid_type");
  }
  ChatReading reading;
  TRY_OK(read_chat_fields(root, reading));
  reading.request.fingerprint = fingerprint(document, reading);
  reading.request.body = std::move(body);
  return std::move(reading.request);
}

std::string upstream_body(const ChatRequest& request, std::string_view model) {
  const auto root = Document::of_thread().parse(request.body, request.body.capacity());
  CHECK(root && root->is(Kind::kObject), "the body of a ChatRequest was read by parse_chat");
  std::string out;
  out.reserve(request.body.size() + model.size() + 80);
  out += std::string_view(request.body).substr(0, root->begin_byte());
  json::Splice splice(out, *root);
  bool has_stream = false;
  bool has_options = false;
  for (const Value member : *root) {
    const std::string_view key = member.key();
    if (key == "model") {
      splice.open(member);
      append_json_string(out, model);
    } else if (key == "stream") {
      splice.replace(member, "true");
      has_stream = true;
    } else if (key == "stream_options") {
      splice.open(member);
      append_stream_options(out, member);
      has_options = true;
    } else if (key == "hengshi") {
      splice.remove(member);
    } else {
      splice.keep(member);
    }
  }
  if (!has_stream) {
    splice.add();
    out += R"("stream":true)";
  }
  if (!has_options) {
    splice.add();
    out += R"("stream_options":{"include_usage":true})";
  }
  splice.finish();
  out += std::string_view(request.body).substr(root->end_byte());
  return out;
}

}  // namespace hengshi::api
