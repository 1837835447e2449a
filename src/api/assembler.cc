#include <algorithm>

#include "api/chat.h"
#include "api/json.h"
#include "api/upstream_words.h"
#include "api/wire_parts.h"
#include "base/log.h"

namespace hengshi::api {

using json::Kind;
using json::Value;

namespace {

constexpr size_t kAnswerLimit = size_t{16} << 20;
constexpr int64_t kMostChoices = 128;
constexpr int64_t kMostToolCalls = 1024;

bool has_text(const std::optional<Value>& value) { return value && value->is(Kind::kString) && !value->text().empty(); }

// Members of a message that have their own place; the rest follows them.
bool placed(std::string_view name) {
  return name == "role" || name == "content" || name == "refusal" || name == "annotations";
}

void append_member(std::string& out, const Grown& object, std::string_view name, std::string_view otherwise) {
  ((out += '"') += name) += "\":";
  const Grown* value = object.find(name);
  if (value == nullptr || value->empty()) {
    out += otherwise;
  } else {
    value->write(out);
  }
}

}  // namespace

Assembler::Choice& Assembler::choice_of(int64_t index) {
  const auto at = std::ranges::lower_bound(choices_, index, {}, &Choice::index);
  if (at != choices_.end() && at->index == index) return *at;
  Choice fresh;
  fresh.index = index;
  return *choices_.insert(at, std::move(fresh));
}

void Assembler::add_tool_call(Choice& choice, Value call) {
  auto& calls = choice.tool_calls;
  const auto stated = call.find("index");
  int64_t index = stated ? stated->integer().value_or(0) : -1;
  if (index < 0) {  // Some servers leave it out: an id then begins a new call.
    const bool begins = calls.empty() || has_text(call.find("id"));
    index = begins ? static_cast<int64_t>(calls.size()) : calls.back().first;
  }
  if (index >= kMostToolCalls) return;
  auto at = std::ranges::lower_bound(calls, index, {}, &std::pair<int64_t, Grown>::first);
  if (at == calls.end() || at->first != index) at = calls.insert(at, {index, Grown()});
  for (const Value member : call) {
    if (member.key() != "index") at->second.take_member(member);
  }
}

bool Assembler::add_delta(Choice& choice, Value delta) {
  bool visible = false;
  for (const Value member : delta) {
    const std::string_view name = member.key();
    if (name != "tool_calls") {
      visible |= (name == "content" || name == "refusal") && has_text(member);
      visible |= name == "function_call" && member.is(Kind::kObject);
      choice.message.take_member(member);
      continue;
    }
    for (const Value call : member) {
      add_tool_call(choice, call);
      visible = true;
    }
  }
  return visible;
}

Result<bool> Assembler::add_choice(Value value, Seen& seen) {
  if (!value.is(Kind::kObject)) return fail(ErrorCode::kUpstream, "The upstream sent a choice that is no object.");
  const auto stated = value.find("index");
  const int64_t index = stated ? stated->integer().value_or(-1) : 0;
  if (index < 0 || index >= kMostChoices)
    return fail(ErrorCode::kUpstream, "The upstream sent a choice without index.");
  Choice& choice = choice_of(index);
  if (!choice.finish_reason.empty()) return false;
  if (const auto delta = value.find("delta")) seen.visible |= add_delta(choice, *delta);
  if (const auto logprobs = value.find("logprobs")) choice.logprobs.take(*logprobs);
  if (const auto reason = value.find("finish_reason"); reason && reason->is(Kind::kString)) {
    choice.finish_reason = reason->text();
    seen.finished |= !reason->text().empty();
  }
  return true;
}

Result<Assembler::Seen> Assembler::add(std::string_view chunk) {
  const auto refuse = [this](Error error) {
    failed_ = true;
    return tl::unexpected<Error>(std::move(error));
  };
  if (failed_) return refuse({ErrorCode::kUpstream, "The upstream's answer had already failed."});
  bytes_ += chunk.size();
  if (bytes_ > kAnswerLimit) return refuse({ErrorCode::kUpstream, "The upstream's answer does not end."});
  if (const auto text = plain_.text_of(chunk)) {
    Choice& choice = choice_of(plain_choice_);
    if (choice.finish_reason.empty()) {
      choice.message.take_text("content", *text);
      return Seen{.visible = !text->empty()};
    }
  }
  auto seen = add_read(chunk);
  if (!seen) return refuse(std::move(seen.error()));
  return seen;
}

Result<Assembler::Seen> Assembler::add_read(std::string_view chunk) {
  TRY(const Chunk read, read_chunk(chunk));
  const auto& [root, choices, counts] = read;
  if (const auto model = root.find("model"); model_.empty() && model && model->is(Kind::kString))
    model_ = model->text();
  if (counts) usage_ = read_usage(*counts);
  Seen seen{.counts = counts.has_value()};
  bool over = true;
  for (const Value choice : choices) {
    TRY(const bool taken, add_choice(choice, seen));
    over = over && !taken;
  }
  if (const auto text = only_text(read)) {
    const auto stated = (*choices.begin()).find("index");
    plain_choice_ = stated ? stated->integer().value_or(0) : 0;
    plain_.learn(chunk, text->begin_byte() + 1, text->end_byte() - 1);
  }
  seen.usage_only = seen.counts && over;
  seen.ignored = !seen.counts && over && choices.begin() != choices.end();
  return seen;
}

bool Assembler::finished() const {
  return !choices_.empty() &&
         std::ranges::all_of(choices_, [](const Choice& choice) { return !choice.finish_reason.empty(); });
}

std::string Assembler::text() const {
  if (choices_.empty() || choices_.front().index != 0) return {};
  const Grown* content = choices_.front().message.find("content");
  return content != nullptr && content->text() != nullptr ? *content->text() : std::string();
}

void Assembler::write_choice(std::string& out, const Choice& choice) {
  const Grown& message = choice.message;
  const bool spoke = choice.tool_calls.empty() && message.find("function_call") == nullptr;
  const Grown* content = message.find("content");
  const bool silent = content == nullptr || content->text() == nullptr || content->text()->empty();
  const Grown* refusal = message.find("refusal");
  const bool refused = refusal != nullptr && !refusal->empty();
  out += R"({"index":)";
  json::append_integer(out, choice.index);
  out += R"(,"message":{)";
  append_member(out, message, "role", "\"assistant\"");
  out += ',';
  if (silent) {
    out += spoke && !refused ? R"("content":"")" : R"("content":null)";
  } else {
    append_member(out, message, "content", "null");
  }
  out += ',';
  append_member(out, message, "refusal", "null");
  out += ',';
  append_member(out, message, "annotations", "[]");
  for (const auto& [name, value] : message.members()) {
    if (placed(name) || value.empty()) continue;
    out += ',';
    append_json_string(out, name);
    out += ':';
    value.write(out);
  }
  if (!choice.tool_calls.empty()) {
    out += R"(,"tool_calls":)";
    char before = '[';
    for (const auto& [index, call] : choice.tool_calls) {
      out += before;
      before = ',';
      call.write(out);
    }
    out += ']';
  }
  out += R"(},"logprobs":)";
  choice.logprobs.write(out);
  out += R"(,"finish_reason":)";
  append_json_string(out, choice.finish_reason);
  out += '}';
}

Result<Completion> Assembler::completion() const {
  if (failed_) return fail(ErrorCode::kUpstream, "The upstream's answer failed.");
  if (!finished()) return fail(ErrorCode::kUpstream, "The upstream ended its answer before it was finished.");
  Completion out;
  out.model = model_;
  char before = '[';
  int64_t tokens = 0;
  for (const Choice& choice : choices_) {
    out.choices += before;
    before = ',';
    const size_t start = out.choices.size();
    write_choice(out.choices, choice);
    if (usage_) continue;
    const Grown* content = choice.message.find("content");
    const bool spoke = content != nullptr && content->text() != nullptr && choice.tool_calls.empty();
    tokens += estimate_tokens(spoke ? std::string_view(*content->text()) : std::string_view(out.choices).substr(start));
  }
  out.choices += ']';
  out.usage = usage_.value_or(Usage{.completion = tokens, .estimated = true});
  return out;
}

}  // namespace hengshi::api
