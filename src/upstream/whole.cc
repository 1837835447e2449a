#include "upstream/whole.h"

#include <initializer_list>

#include "api/json.h"
#include "base/log.h"

namespace hengshi::upstream {

using api::json::Kind;
using api::json::Value;

namespace {

tl::unexpected<Error> no_completion() {
  return fail(ErrorCode::kUpstream, "The upstream answered with something that is no chat completion.");
}

// The members of an object but for some, each followed by a comma.
std::string members(Value object, std::initializer_list<std::string_view> without) {
  std::string out;
  for (const Value member : object) {
    bool left_out = false;
    for (const std::string_view key : without) left_out = left_out || member.key() == key;
    if (left_out) continue;
    append_json_string(out, member.key());
    out += ':';
    out += member.raw();
    out += ',';
  }
  return out;
}

void append_tool_calls(std::string& out, Value calls) {
  out += "\"tool_calls\":[";
  int64_t index = 0;
  for (const Value call : calls) {
    if (index > 0) out += ',';
    out += "{\"index\":";
    api::json::append_integer(out, index++);
    std::string rest = members(call, {"index"});
    if (!rest.empty()) rest.pop_back();
    if (!rest.empty()) out += ',';
    out += rest;
    out += '}';
  }
  out += "],";
}

std::string delta_of(Value message) {
  std::string out = "{" + members(message, {"tool_calls"});
  const auto calls = message.find("tool_calls");
  if (calls && calls->is(Kind::kArray) && calls->size() > 0) append_tool_calls(out, *calls);
  if (out.back() == ',') out.pop_back();
  return out + "}";
}

std::string index_of(Value choice) {
  const auto index = choice.find("index");
  return index && index->integer() ? std::string(index->raw()) : "0";
}

}  // namespace

Result<std::vector<std::string>> chunks_of(std::string_view completion) {
  const auto root = api::json::Document::of_thread().parse(completion);
  if (!root || !root->is(Kind::kObject)) return no_completion();
  const auto error = root->find("error");
  if (error && !error->is(Kind::kNull)) return std::vector{std::string(completion)};
  const auto choices = root->find("choices");
  if (!choices || !choices->is(Kind::kArray) || choices->size() == 0) return no_completion();

  const std::string head =
      "{" + members(*root, {"object", "choices", "usage"}) + "\"object\":\"chat.completion.chunk\",";
  std::string content = head + "\"choices\":[";
  std::string finish = content;
  for (const Value choice : *choices) {
    const auto message = choice.is(Kind::kObject) ? choice.find("message") : std::nullopt;
    if (!message || !message->is(Kind::kObject)) return no_completion();
    const auto reason = choice.find("finish_reason");
    const std::string index = index_of(choice);
    content += "{\"index\":" + index + ",\"delta\":" + delta_of(*message) + "," +
               members(choice, {"index", "message", "finish_reason"}) + "\"finish_reason\":null},";
    finish += "{\"index\":" + index +
              ",\"delta\":{},\"finish_reason\":" + (reason ? std::string(reason->raw()) : "null") + "},";
  }
  content.back() = ']';
  finish.back() = ']';
  std::vector<std::string> out = {content + "}", finish + "}"};
  const auto usage = root->find("usage");
  if (usage && usage->is(Kind::kObject))
    out.push_back(head + "\"choices\":[],\"usage\":" + std::string(usage->raw()) + "}");
  return out;
}

}  // namespace hengshi::upstream
