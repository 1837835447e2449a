#include <array>
#include <optional>
#include <string>

#include "api/chat_fields.h"
#include "api/field_error.h"

namespace hengshi::api {

using json::Kind;
using json::Value;

namespace {

enum class Role { kSystem, kUser, kAssistant, kTool, kFunction };

std::optional<Role> role_of(std::string_view name) {
  if (name == "user") return Role::kUser;
  if (name == "assistant") return Role::kAssistant;
  if (name == "system" || name == "developer") return Role::kSystem;
  if (name == "tool") return Role::kTool;
  if (name == "function") return Role::kFunction;
  return std::nullopt;
}

using MaybeValue = std::optional<Value>;

// The last member of each name; null counts as absent.
struct Message {
  size_t index = 0;
  MaybeValue role, content, name, tool_calls, tool_call_id, refusal, audio, function_call;
  MaybeValue content_null;  // `"content": null` was written
  MaybeValue unknown;       // a field we do not know

  std::string path(std::string_view field) const { return path_of("messages", index, field); }
};

Message gather(Value object, size_t index) {
  Message message;
  message.index = index;
  for (const Value member : object) {
    const std::string_view key = member.key();
    const MaybeValue value = member.is(Kind::kNull) ? MaybeValue() : MaybeValue(member);
    if (key == "role") {
      message.role = value;
    } else if (key == "content") {
      message.content = value;
      message.content_null = value ? MaybeValue() : MaybeValue(member);
    } else if (key == "name") {
      message.name = value;
    } else if (key == "tool_calls") {
      message.tool_calls = value;
    } else if (key == "tool_call_id") {
      message.tool_call_id = value;
    } else if (key == "refusal") {
      message.refusal = value;
    } else if (key == "audio") {
      message.audio = value;
    } else if (key == "function_call") {
      message.function_call = value;
    } else if (value && key != "cache_control" && key != "annotations") {
      message.unknown = value;
    }
  }
  return message;
}

Result<void> check_string(const Message& message, const MaybeValue& value, std::string_view field) {
  if (!value || value->is(Kind::kString)) return {};
  return wrong_type(message.path(field), "a string", value->kind());
}

// A part's text node when it is a text part; nothing for other kinds.
Result<MaybeValue> read_part(Value part, const std::string& path, ChatReading& reading) {
  if (!part.is(Kind::kObject)) return wrong_type(path, "an object", part.kind());
  const auto type = part.find("type");
  if (!type) return missing(path + ".type", "say what the part is, for example \"text\"");
  if (!type->is(Kind::kString)) return wrong_type(path + ".type", "a string", type->kind());
  const std::string_view kind = type->text();
  if (kind == "text" || kind == "refusal") {
    const auto text = part.find(kind);
    if (!text) return missing((path + '.').append(kind), "give the text");
    if (!text->is(Kind::kString)) return wrong_type((path + '.').append(kind), "a string", text->kind());
    return kind == "text" ? MaybeValue(text) : MaybeValue();
  }
  reading.beyond_local(kind);
  if (kind != "image_url" && kind != "input_audio" && kind != "file") return MaybeValue();
  const auto payload = part.find(kind);
  if (!payload) return missing((path + '.').append(kind), "give what the type announces");
  if (!payload->is(Kind::kObject)) return wrong_type((path + '.').append(kind), "an object", payload->kind());
  return MaybeValue();
}

Result<void> read_parts(Value content, const Message& message, bool is_question, ChatReading& reading) {
  if (content.begin() == content.end())
    return wrong_value(message.path("content"), "it is empty; send at least one part");
  size_t i = 0;
  for (const Value part : content) {
    TRY(const MaybeValue text, read_part(part, path_of(message.path("content"), i++), reading));
    if (!text || !is_question) continue;
    if (!reading.question.empty()) reading.request.question += '\n';
    reading.request.question += text->text();
    reading.question.push_back(text->index());
  }
  return {};
}

bool may_lack_content(Role role, const Message& message) {
  if (role == Role::kFunction) return message.content_null.has_value();
  return role == Role::kAssistant && (message.tool_calls || message.function_call || message.refusal || message.audio);
}

Result<void> read_content(Role role, const Message& message, bool is_question, ChatReading& reading) {
  constexpr std::string_view kExpected = "a string or an array of parts";
  if (!message.content) {
    if (may_lack_content(role, message)) return {};
    if (message.content_null) return wrong_type(message.path("content"), kExpected, Kind::kNull);
    return missing(message.path("content"), "give the message's text");
  }
  const Value content = *message.content;
  if (content.is(Kind::kArray)) return read_parts(content, message, is_question, reading);
  if (!content.is(Kind::kString)) return wrong_type(message.path("content"), kExpected, content.kind());
  if (is_question) {
    reading.request.question = content.text();
    reading.question.push_back(content.index());
  }
  return {};
}

Result<void> check_tool_call(Value call, const std::string& path) {
  if (!call.is(Kind::kObject)) return wrong_type(path, "an object", call.kind());
  const auto id = call.find("id");
  if (!id) return missing(path + ".id", "repeat the id the model gave");
  if (!id->is(Kind::kString)) return wrong_type(path + ".id", "a string", id->kind());
  const auto function = call.find("function");
  if (!function) return {};  // Another type of call; the upstream judges it.
  if (!function->is(Kind::kObject)) return wrong_type(path + ".function", "an object", function->kind());
  for (const std::string_view field : {"name", "arguments"}) {
    const std::string field_path = (path + ".function.").append(field);
    const auto value = function->find(field);
    if (!value) return missing(field_path, "repeat what the model gave");
    if (!value->is(Kind::kString)) return wrong_type(field_path, "a string", value->kind());
  }
  return {};
}

Result<void> check_tool_calls(const Message& message) {
  if (!message.tool_calls) return {};
  if (!message.tool_calls->is(Kind::kArray)) {
    return wrong_type(message.path("tool_calls"), "an array", message.tool_calls->kind());
  }
  size_t i = 0;
  for (const Value call : *message.tool_calls) {
    TRY_OK(check_tool_call(call, path_of(message.path("tool_calls"), i++)));
  }
  return {};
}

Result<Role> read_role(const Message& message) {
  constexpr std::string_view kRoles = "use system, developer, user, assistant or tool";
  if (!message.role) return missing(message.path("role"), kRoles);
  if (!message.role->is(Kind::kString)) return wrong_type(message.path("role"), "a string", message.role->kind());
  const auto role = role_of(message.role->text());
  if (!role) return wrong_value(message.path("role"), kRoles);
  return *role;
}

Result<void> check_names(Role role, const Message& message) {
  TRY_OK(check_string(message, message.name, "name"));
  TRY_OK(check_string(message, message.refusal, "refusal"));
  TRY_OK(check_string(message, message.tool_call_id, "tool_call_id"));
  if (role == Role::kTool && !message.tool_call_id) {
    return missing(message.path("tool_call_id"), "name the tool call this answers");
  }
  if (role == Role::kFunction && !message.name) return missing(message.path("name"), "name the function this answers");
  return {};
}

}  // namespace

Result<void> read_messages(Value messages, ChatReading& reading) {
  const size_t count = messages.size();
  if (count == 0) return wrong_value("messages", "it is empty; send at least one message");
  size_t users = 0;
  size_t index = 0;
  for (const Value object : messages) {
    if (!object.is(Kind::kObject)) return wrong_type(path_of("messages", index), "an object", object.kind());
    const Message message = gather(object, index);
    TRY(const Role role, read_role(message));
    TRY_OK(check_names(role, message));
    TRY_OK(check_tool_calls(message));
    TRY_OK(read_content(role, message, role == Role::kUser && index + 1 == count, reading));
    if (message.unknown) reading.beyond_local(message.unknown->key());
    users += role == Role::kUser ? 1 : 0;
    reading.request.has_system |= role == Role::kSystem;
    reading.request.has_history |= users > 1 || (role != Role::kUser && role != Role::kSystem);
    ++index;
  }
  return {};
}

}  // namespace hengshi::api
