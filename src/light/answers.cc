#include "light/answers.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/log.h"

namespace hengshi::light {

namespace {

constexpr int64_t kFormat = 2;

tl::unexpected<Error> bad(std::string_view intent, std::string_view why) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("intent {}: {}", intent, why));
}

tl::unexpected<Error> malformed() {
  return fail(ErrorCode::kInvalidRequest,
              R"(not {"format": 2, "intents": [{"name": …, "answers": ["…"], "slots": {"name": {"pattern": "…"}}}]})");
}

Result<std::string> read_text(simdjson::dom::element element) {
  std::string_view text;
  if (element.get(text) != simdjson::SUCCESS) return malformed();
  return std::string(text);
}

Result<std::vector<std::string>> read_texts(simdjson::dom::element element) {
  simdjson::dom::array array;
  if (element.get(array) != simdjson::SUCCESS) return malformed();
  std::vector<std::string> out;
  for (const auto one : array) {
    TRY(out.emplace_back(), read_text(one));
  }
  return out;
}

Result<SlotSource> read_slot(simdjson::dom::element element) {
  SlotSource out;
  if (element.is_string()) {
    TRY(out.pattern, read_text(element));
    return out;
  }
  simdjson::dom::object object;
  if (element.get(object) != simdjson::SUCCESS) return malformed();
  for (const auto& [key, value] : object) {
    if (key == "values") {
      simdjson::dom::object values;
      if (value.get(values) != simdjson::SUCCESS) return malformed();
      for (const auto& [name, others] : values) {
        TRY(out.values[std::string(name)], read_texts(others));
      }
      continue;
    }
    std::string* into = key == "pattern" ? &out.pattern : key == "kind" ? &out.kind : key == "ask" ? &out.ask : nullptr;
    if (into == nullptr) return malformed();
    TRY(*into, read_text(value));
  }
  return out;
}

Result<IntentAnswers> read_intent(simdjson::dom::element element) {
  IntentAnswers out;
  simdjson::dom::element name, answers;
  simdjson::dom::object slots;
  if (element["name"].get(name) != simdjson::SUCCESS) return malformed();
  if (element["answers"].get(answers) != simdjson::SUCCESS) return malformed();
  if (element["slots"].get(slots) != simdjson::SUCCESS) return malformed();
  TRY(out.name, read_text(name));
  TRY(out.answers, read_texts(answers));
  for (const auto& [key, value] : slots) {
    TRY(out.slots[std::string(key)], read_slot(value));
  }
  return out;
}

void append_list(std::string& out, const std::vector<std::string>& texts) {
  out += '[';
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, texts[i]);
  }
  out += ']';
}

void append_values(std::string& out, const SlotSource& slot) {
  out += "\"values\":{";
  for (auto it = slot.values.begin(); it != slot.values.end(); ++it) {
    if (it != slot.values.begin()) out += ',';
    append_json_string(out, it->first);
    out += ':';
    append_list(out, it->second);
  }
  out += '}';
}

void append_slot(std::string& out, const SlotSource& slot) {
  out += '{';
  if (!slot.values.empty()) {
    append_values(out, slot);
  } else {
    out += slot.kind.empty() ? "\"pattern\":" : "\"kind\":";
    append_json_string(out, slot.kind.empty() ? slot.pattern : slot.kind);
  }
  if (!slot.ask.empty()) {
    out += ",\"ask\":";
    append_json_string(out, slot.ask);
  }
  out += '}';
}

}  // namespace

Result<AnswerBook::Intent> AnswerBook::compile(IntentAnswers from) {
  Intent out;
  out.name = std::move(from.name);
  for (auto& [name, source] : from.slots) {
    auto slot = Slot::make(source);
    if (!slot) return bad(out.name, fmt::format("slot {}: {}", name, slot.error().message));
    out.slots.push_back({name, std::move(source.ask), std::move(*slot)});
  }
  for (const std::string& answer : from.answers) {
    auto parsed = text::Template::parse(answer);
    if (!parsed) return bad(out.name, fmt::format("answer '{}': {}", answer, parsed.error().message));
    for (const std::string& name : parsed->names()) {
      if (!from.slots.contains(name)) {
        return bad(out.name, fmt::format("answer '{}' uses {{{}}}, which no slot fills", answer, name));
      }
    }
    out.answers.push_back(std::move(*parsed));
  }
  return out;
}

Result<AnswerBook> AnswerBook::make(std::vector<IntentAnswers> intents) {
  AnswerBook book;
  for (IntentAnswers& intent : intents) {
    TRY(Intent compiled, compile(std::move(intent)));
    book.intents_.push_back(std::move(compiled));
  }
  return book;
}

Result<AnswerBook> AnswerBook::parse(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  simdjson::dom::array list;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) return malformed();
  int64_t format = 1;
  if (const auto given = root["format"].get(format); given != simdjson::SUCCESS && given != simdjson::NO_SUCH_FIELD) {
    return malformed();
  }
  if (format < 1 || format > kFormat) {
    return fail(ErrorCode::kInvalidRequest, fmt::format("format {} is not the {} read here", format, kFormat));
  }
  if (root["intents"].get(list) != simdjson::SUCCESS) return malformed();
  std::vector<IntentAnswers> intents;
  for (const auto element : list) {
    TRY(IntentAnswers one, read_intent(element));
    intents.push_back(std::move(one));
  }
  return make(std::move(intents));
}

std::optional<Reply> AnswerBook::ask_back(const Intent& intent, const text::Slots& filled) {
  for (const text::Template& answer : intent.answers) {
    for (const std::string& name : answer.required()) {
      if (filled.contains(name)) continue;
      const auto named = [&](const NamedSlot& slot) { return slot.name == name; };
      const auto slot = std::find_if(intent.slots.begin(), intent.slots.end(), named);
      if (slot != intent.slots.end() && !slot->ask.empty()) return Reply{slot->ask, slot->name};
    }
  }
  return std::nullopt;
}

std::optional<Reply> AnswerBook::answer(size_t intent, std::string_view question, uint64_t key) const {
  const Intent& one = intents_[intent];
  text::Slots slots;
  for (const NamedSlot& named : one.slots) {
    auto value = named.slot.read(question);
    if (value && !value->empty()) slots.emplace(named.name, std::move(*value));
  }
  std::vector<std::string> filled;
  for (const text::Template& answer : one.answers) {
    if (auto text = answer.fill(slots)) filled.push_back(std::move(*text));
  }
  if (filled.empty()) return ask_back(one, slots);
  return Reply{std::move(filled[key % filled.size()]), {}};
}

std::string answers_json(const std::vector<IntentAnswers>& intents) {
  std::string out = fmt::format("{{\"format\":{},\"intents\":[", kFormat);
  for (size_t i = 0; i < intents.size(); ++i) {
    out += i == 0 ? "\n{\"name\":" : ",\n{\"name\":";
    append_json_string(out, intents[i].name);
    out += ",\"answers\":";
    append_list(out, intents[i].answers);
    out += ",\"slots\":{";
    bool first = true;
    for (const auto& [name, slot] : intents[i].slots) {
      if (!first) out += ',';
      first = false;
      append_json_string(out, name);
      out += ':';
      append_slot(out, slot);
    }
    out += "}}";
  }
  return out + "\n]}\n";
}

}  // namespace hengshi::light
