#include "api/chat_fields.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

#include "api/field_error.h"

namespace hengshi::api {

using json::Kind;
using json::Value;

namespace {

enum class Shape : uint8_t { kAny, kString, kBool, kNumber, kInteger, kObject, kArray };

using Read = Result<void> (*)(Value value, ChatReading& reading);

struct Field {
  std::string_view name;
  Shape shape = Shape::kAny;
  Read read = nullptr;  // What the shape alone does not say.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool shapes_answer = true;  // In the fingerprint.
  bool local = true;          // Cache, rule and light answers may have it.
  bool once = false;          // Twice would leave open which one counts.
};

Result<void> read_model(Value value, ChatReading& reading) {
  if (value.text().empty()) return missing("model", "name a model, for example \"hengshi\"");
  if (value.text().size() > 256) return wrong_value("model", "a model name has at most 256 bytes");
  reading.request.model = value.text();
  reading.has_model = true;
  return {};
}

Result<void> read_all_messages(Value value, ChatReading& reading) {
  reading.has_messages = true;
  return read_messages(value, reading);
}

Result<void> read_stream(Value value, ChatReading& reading) {
  reading.request.stream = value.is(Kind::kTrue);
  return {};
}

Result<void> read_stream_options(Value value, ChatReading& reading) {
  reading.has_stream_options = true;
  if (const auto usage = value.find("include_usage"); usage && !usage->is(Kind::kNull)) {
    if (!usage->is_bool()) return wrong_type("stream_options.include_usage", "a boolean", usage->kind());
    reading.request.include_usage = usage->is(Kind::kTrue);
  }
  return {};
}

Result<void> read_n(Value value, ChatReading& reading) {
  if (value.integer() != 1) reading.beyond_local("n");
  return {};
}

Result<void> read_max_tokens(Value value, ChatReading& reading) {
  const int64_t tokens = value.integer().value_or(0);
  int64_t& smallest = reading.request.max_tokens;
  smallest = smallest == 0 ? tokens : std::min(smallest, tokens);
  return {};
}

Result<void> read_stop(Value value, ChatReading& reading) {
  constexpr size_t kMost = 4;
  auto& stop = reading.request.stop;
  stop.clear();
  if (value.is(Kind::kString)) {
    stop.emplace_back(value.text());
    return {};
  }
  if (!value.is(Kind::kArray)) return wrong_type("stop", "a string or an array of strings", value.kind());
  for (const Value one : value) {
    if (!one.is(Kind::kString)) return wrong_type(path_of("stop", stop.size()), "a string", one.kind());
    if (stop.size() == kMost) return wrong_value("stop", "give at most 4 sequences");
    stop.emplace_back(one.text());
  }
  return {};
}

Result<void> read_logprobs(Value value, ChatReading& reading) {
  reading.logprobs = value.is(Kind::kTrue);
  if (reading.logprobs) reading.beyond_local("logprobs");
  return {};
}

Result<void> read_top_logprobs(Value, ChatReading& reading) {
  reading.top_logprobs = true;
  return {};
}

Result<void> read_logit_bias(Value value, ChatReading& reading) {
  for (const Value bias : value) {
    const std::string path = "logit_bias." + plain_name(bias.key());
    if (!bias.is(Kind::kNumber)) return wrong_type(path, "a number", bias.kind());
    const auto amount = bias.number();
    if (!amount || *amount < -100 || *amount > 100) return wrong_value(path, "it must be between -100 and 100");
    reading.beyond_local("logit_bias");
  }
  return {};
}

Result<void> read_user(Value value, ChatReading& reading) {
  reading.request.user = value.text();
  return {};
}

Result<void> read_response_format(Value value, ChatReading& reading) {
  const auto type = value.find("type");
  if (!type) return missing("response_format.type", "use text, json_object or json_schema");
  if (!type->is(Kind::kString)) return wrong_type("response_format.type", "a string", type->kind());
  if (type->text() != "text") reading.beyond_local("response_format");
  if (type->text() != "json_schema") return {};
  const auto schema = value.find("json_schema");
  if (!schema) return missing("response_format.json_schema", "give the schema as {\"name\", \"schema\"}");
  if (!schema->is(Kind::kObject)) return wrong_type("response_format.json_schema", "an object", schema->kind());
  const auto name = schema->find("name");
  if (!name) return missing("response_format.json_schema.name", "name the schema");
  if (!name->is(Kind::kString)) return wrong_type("response_format.json_schema.name", "a string", name->kind());
  return {};
}

Result<void> read_named(Value owner, const std::string& path) {
  if (!owner.is(Kind::kObject)) return wrong_type(path, "an object", owner.kind());
  const auto name = owner.find("name");
  if (!name) return missing(path + ".name", "name the function");
  if (!name->is(Kind::kString)) return wrong_type(path + ".name", "a string", name->kind());
  return {};
}

Result<void> read_tools(Value value, ChatReading&) {
  size_t i = 0;
  for (const Value tool : value) {
    const std::string path = path_of("tools", i++);
    if (!tool.is(Kind::kObject)) return wrong_type(path, "an object", tool.kind());
    const auto type = tool.find("type");
    if (!type) return missing(path + ".type", "use \"function\"");
    if (!type->is(Kind::kString)) return wrong_type(path + ".type", "a string", type->kind());
    if (type->text() != "function") continue;
    const auto function = tool.find("function");
    if (!function) return missing(path + ".function", "describe the function");
    TRY_OK(read_named(*function, path + ".function"));
  }
  return {};
}

Result<void> read_functions(Value value, ChatReading&) {
  size_t i = 0;
  for (const Value function : value) TRY_OK(read_named(function, path_of("functions", i++)));
  return {};
}

Result<void> read_tool_choice(Value value, ChatReading&) {
  if (value.is(Kind::kObject)) return {};
  if (!value.is(Kind::kString)) return wrong_type("tool_choice", "a string or an object", value.kind());
  const std::string_view choice = value.text();
  if (choice == "none" || choice == "auto" || choice == "required") return {};
  return wrong_value("tool_choice", "use none, auto, required, or an object naming a tool");
}

Result<void> read_function_call(Value value, ChatReading&) {
  if (value.is(Kind::kString) || value.is(Kind::kObject)) return {};
  return wrong_type("function_call", "a string or an object", value.kind());
}

Result<void> read_modalities(Value value, ChatReading& reading) {
  size_t i = 0;
  for (const Value modality : value) {
    if (!modality.is(Kind::kString)) return wrong_type(path_of("modalities", i), "a string", modality.kind());
    if (modality.text() != "text") reading.beyond_local("modalities");
    ++i;
  }
  return {};
}

Result<void> read_hengshi(Value value, ChatReading& reading) {
  if (value.is_bool()) {
    reading.request.extension = value.is(Kind::kTrue);
    return {};
  }
  if (!value.is(Kind::kObject)) return wrong_type("hengshi", "a boolean or an object", value.kind());
  for (const Value option : value) {
    if (option.key() != "extension") {
      return wrong_value("hengshi." + plain_name(option.key()), "only \"extension\" is known here; leave it out");
    }
    if (!option.is_bool()) return wrong_type("hengshi.extension", "a boolean", option.kind());
    reading.request.extension = option.is(Kind::kTrue);
  }
  return {};
}

constexpr std::array kFields = {
    Field{.name = "model", .shape = Shape::kString, .read = read_model, .once = true},
    Field{.name = "messages", .shape = Shape::kArray, .read = read_all_messages, .once = true},
    Field{.name = "stream", .shape = Shape::kBool, .read = read_stream, .shapes_answer = false, .once = true},
    Field{.name = "stream_options",
          .shape = Shape::kObject,
          .read = read_stream_options,
          .shapes_answer = false,
          .once = true},
    Field{.name = "temperature", .shape = Shape::kNumber, .low = 0, .high = 2},
    Field{.name = "top_p", .shape = Shape::kNumber, .low = 0, .high = 1},
    Field{.name = "presence_penalty", .shape = Shape::kNumber, .low = -2, .high = 2},
    Field{.name = "frequency_penalty", .shape = Shape::kNumber, .low = -2, .high = 2},
    Field{.name = "seed", .shape = Shape::kNumber},
    Field{.name = "n", .shape = Shape::kInteger, .read = read_n, .low = 1, .high = 128},
    Field{.name = "max_tokens", .shape = Shape::kInteger, .read = read_max_tokens, .low = 1},
    Field{.name = "max_completion_tokens", .shape = Shape::kInteger, .read = read_max_tokens, .low = 1},
    Field{.name = "stop", .read = read_stop},
    Field{.name = "logprobs", .shape = Shape::kBool, .read = read_logprobs},
    Field{.name = "top_logprobs", .shape = Shape::kInteger, .read = read_top_logprobs, .low = 0, .high = 20},
    Field{.name = "logit_bias", .shape = Shape::kObject, .read = read_logit_bias},
    Field{.name = "user", .shape = Shape::kString, .read = read_user, .shapes_answer = false},
    Field{.name = "metadata", .shape = Shape::kObject, .shapes_answer = false},
    Field{.name = "store", .shape = Shape::kBool, .shapes_answer = false},
    Field{.name = "service_tier", .shape = Shape::kString, .shapes_answer = false},
    Field{.name = "hengshi", .read = read_hengshi, .shapes_answer = false},
    Field{.name = "reasoning_effort", .shape = Shape::kString},
    Field{.name = "verbosity", .shape = Shape::kString},
    Field{.name = "parallel_tool_calls", .shape = Shape::kBool},
    Field{.name = "prompt_cache_key", .shape = Shape::kString},
    Field{.name = "prompt_cache_retention", .shape = Shape::kString},
    Field{.name = "safety_identifier", .shape = Shape::kString},
    Field{.name = "response_format", .shape = Shape::kObject, .read = read_response_format},
    Field{.name = "modalities", .shape = Shape::kArray, .read = read_modalities},
    Field{.name = "tools", .shape = Shape::kArray, .read = read_tools, .local = false},
    Field{.name = "tool_choice", .read = read_tool_choice, .local = false},
    Field{.name = "functions", .shape = Shape::kArray, .read = read_functions, .local = false},
    Field{.name = "function_call", .read = read_function_call, .local = false},
    Field{.name = "audio", .shape = Shape::kObject, .local = false},
    Field{.name = "prediction", .shape = Shape::kObject, .local = false},
    Field{.name = "web_search_options", .shape = Shape::kObject, .local = false},
};
static_assert(kFields.size() <= 64, "one bit each in the mask of fields seen");

constexpr size_t slot_of(std::string_view name, size_t slots) {
  if (name.empty()) return 0;
  const size_t first = static_cast<unsigned char>(name.front());
  const size_t last = static_cast<unsigned char>(name.back());
  return (name.size() * 31 + first * 7 + last) % slots;
}

// Field of a slot + 1, 0: none. Open addressing; made by the compiler.
constexpr size_t kSlots = 128;
constexpr auto kTable = [] {
  std::array<uint8_t, kSlots> table = {};
  for (size_t i = 0; i < kFields.size(); ++i) {
    size_t slot = slot_of(kFields[i].name, kSlots);
    while (table[slot] != 0) slot = (slot + 1) % kSlots;
    table[slot] = static_cast<uint8_t>(i + 1);
  }
  return table;
}();

const Field* field_of(std::string_view name) {
  for (size_t slot = slot_of(name, kSlots); kTable[slot] != 0; slot = (slot + 1) % kSlots) {
    const size_t index = kTable[slot];
    if (kFields[index - 1].name == name) return &kFields[index - 1];
  }
  return nullptr;
}

std::string range_of(const Field& field) {
  const auto whole = [](double value) { return std::to_string(static_cast<int64_t>(value)); };
  if (field.high > 1e15) return "it must be at least " + whole(field.low);
  return "it must be between " + whole(field.low) + " and " + whole(field.high);
}

Result<void> check_number(const Field& field, Value value) {
  const bool whole = field.shape == Shape::kInteger;
  const std::string_view expected = whole ? "an integer" : "a number";
  if (!value.is(Kind::kNumber)) return wrong_type(std::string(field.name), expected, value.kind());
  if (whole && !value.integer()) return wrong_value(std::string(field.name), "it must be a whole number");
  if (field.low < -1e15) return {};
  const auto number = value.number();
  if (!number || *number < field.low || *number > field.high) {
    return wrong_value(std::string(field.name), range_of(field));
  }
  return {};
}

Result<void> check_shape(const Field& field, Value value) {
  const auto expect = [&](bool ok, std::string_view expected) -> Result<void> {
    if (ok) return {};
    return wrong_type(std::string(field.name), expected, value.kind());
  };
  switch (field.shape) {
    case Shape::kAny: return {};
    case Shape::kString: return expect(value.is(Kind::kString), "a string");
    case Shape::kBool: return expect(value.is_bool(), "a boolean");
    case Shape::kObject: return expect(value.is(Kind::kObject), "an object");
    case Shape::kArray: return expect(value.is(Kind::kArray), "an array");
    case Shape::kNumber:
    case Shape::kInteger: return check_number(field, value);
  }
  return {};
}

Result<void> read_field(const Field& field, Value value, ChatReading& reading) {
  if (value.is(Kind::kNull)) return {};
  TRY_OK(check_shape(field, value));
  if (!field.local) reading.beyond_local(field.name);
  return field.read == nullptr ? Result<void>() : field.read(value, reading);
}

Result<void> check_together(const ChatReading& reading) {
  if (!reading.has_model) return missing("model", "name a model, for example \"hengshi\"");
  if (!reading.has_messages) return missing("messages", "send an array of at least one message");
  if (reading.has_stream_options && !reading.request.stream) {
    return wrong_value("stream_options", "it is only allowed with \"stream\": true");
  }
  if (reading.top_logprobs && !reading.logprobs) {
    return wrong_value("top_logprobs", "it is only allowed with \"logprobs\": true");
  }
  return {};
}

}  // namespace

void ChatReading::beyond_local(std::string_view field) {
  if (request.beyond_local.empty()) request.beyond_local = plain_name(field);
}

Result<void> read_chat_fields(Value root, ChatReading& reading) {
  uint64_t seen = 0;
  for (const Value member : root) {
    const Field* field = field_of(member.key());
    if (field == nullptr || field->shapes_answer) reading.fingerprinted.push_back(member.index());
    if (field == nullptr) {
      if (!member.is(Kind::kNull)) reading.beyond_local(member.key());
      continue;
    }
    const uint64_t bit = uint64_t{1} << (field - kFields.data());
    if (field->once && (seen & bit) != 0)
      return wrong_value(std::string(field->name), "it is given twice; send it once");
    seen |= bit;
    TRY_OK(read_field(*field, member, reading));
  }
  return check_together(reading);
}

}  // namespace hengshi::api
