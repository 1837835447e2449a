#include "light/answers.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

#include "base/log.h"

namespace hengshi::light {

namespace {

constexpr int64_t kPatternMemory = 1 << 20;  // bytes; a pattern that needs more is refused

tl::unexpected<Error> bad(std::string_view intent, std::string_view why) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("intent {}: {}", intent, why));
}

tl::unexpected<Error> malformed() {
  return fail(ErrorCode::kInvalidRequest,
              R"(not {"intents": [{"name": …, "answers": ["…"], "slots": {"name": "pattern"}}]})");
}

Result<IntentAnswers> read_intent(simdjson::dom::element element) {
  IntentAnswers out;
  std::string_view name;
  simdjson::dom::array answers;
  simdjson::dom::object slots;
  if (element["name"].get(name) != simdjson::SUCCESS) return malformed();
  if (element["answers"].get(answers) != simdjson::SUCCESS) return malformed();
  if (element["slots"].get(slots) != simdjson::SUCCESS) return malformed();
  out.name = name;
  for (const auto one : answers) {
    std::string_view answer;
    if (one.get(answer) != simdjson::SUCCESS) return malformed();
    out.answers.emplace_back(answer);
  }
  for (const auto& [key, value] : slots) {
    std::string_view pattern;
    if (value.get(pattern) != simdjson::SUCCESS) return malformed();
    out.slots.emplace(key, pattern);
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<const re2::RE2>> compile_slot(const std::string& pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(kPatternMemory);
  auto compiled = std::make_unique<const re2::RE2>(pattern, options);
  if (!compiled->ok()) {
    return fail(ErrorCode::kInvalidRequest, fmt::format("pattern '{}': {}", pattern, compiled->error()));
  }
  return compiled;
}

Result<AnswerBook::Intent> AnswerBook::compile(IntentAnswers from) {
  Intent out;
  out.name = std::move(from.name);
  for (const auto& [name, pattern] : from.slots) {
    auto compiled = compile_slot(pattern);
    if (!compiled) return bad(out.name, fmt::format("slot {}: {}", name, compiled.error().message));
    out.slots.push_back({name, std::move(*compiled)});
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
  if (root["intents"].get(list) != simdjson::SUCCESS) return malformed();
  std::vector<IntentAnswers> intents;
  for (const auto element : list) {
    TRY(IntentAnswers one, read_intent(element));
    intents.push_back(std::move(one));
  }
  return make(std::move(intents));
}

std::optional<std::string> AnswerBook::answer(size_t intent, std::string_view question, uint64_t key) const {
  const Intent& one = intents_[intent];
  text::Slots slots;
  for (const Slot& slot : one.slots) {
    re2::StringPiece groups[2];
    const int wanted = 1 + std::min(slot.pattern->NumberOfCapturingGroups(), 1);
    const re2::StringPiece whole(question.data(), question.size());
    if (!slot.pattern->Match(whole, 0, question.size(), re2::RE2::UNANCHORED, groups, wanted)) continue;
    const re2::StringPiece value = groups[wanted - 1];
    slots.emplace(slot.name, std::string(value.data(), value.size()));
  }
  std::vector<std::string> filled;
  for (const text::Template& answer : one.answers) {
    if (auto text = answer.fill(slots)) filled.push_back(std::move(*text));
  }
  if (filled.empty()) return std::nullopt;
  return std::move(filled[key % filled.size()]);
}

std::string answers_json(const std::vector<IntentAnswers>& intents) {
  std::string out = "{\"intents\":[";
  for (size_t i = 0; i < intents.size(); ++i) {
    out += i == 0 ? "\n{\"name\":" : ",\n{\"name\":";
    append_json_string(out, intents[i].name);
    out += ",\"answers\":[";
    for (size_t k = 0; k < intents[i].answers.size(); ++k) {
      if (k > 0) out += ',';
      append_json_string(out, intents[i].answers[k]);
    }
    out += "],\"slots\":{";
    bool first = true;
    for (const auto& [name, pattern] : intents[i].slots) {
      if (!first) out += ',';
      first = false;
      append_json_string(out, name);
      out += ':';
      append_json_string(out, pattern);
    }
    out += "}}";
  }
  return out + "\n]}\n";
}

}  // namespace hengshi::light
