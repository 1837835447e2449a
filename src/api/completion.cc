#include <algorithm>

#include "api/chat.h"
#include "api/json.h"
#include "api/wire_parts.h"
#include "base/log.h"

namespace hengshi::api {

using json::Kind;
using json::Value;

Completion text_completion(std::string_view model, std::string_view text, Usage usage) {
  Completion out;
  out.model = model;
  out.usage = usage;
  out.choices.reserve(text.size() + 160);
  out.choices += R"([{"index":0,"message":{"role":"assistant","content":)";
  append_json_string(out.choices, text);
  out.choices += R"(,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"stop"}])";
  return out;
}

std::string text_of(const Completion& completion) {
  const auto choices = json::Document::of_thread().parse(completion.choices);
  if (!choices || !choices->is(Kind::kArray) || choices->begin() == choices->end()) return {};
  const auto message = (*choices->begin()).find("message");
  if (!message) return {};
  const auto content = message->find("content");
  return content && content->is(Kind::kString) ? std::string(content->text()) : std::string();
}

bool complete(const Completion& completion) {
  const auto choices = json::Document::of_thread().parse(completion.choices);
  if (!choices || !choices->is(Kind::kArray) || choices->begin() == choices->end()) return false;
  for (const Value choice : *choices) {
    const auto reason = choice.find("finish_reason");
    if (!reason || !reason->is(Kind::kString)) return false;
    const std::string_view word = reason->text();
    if (word != "stop" && word != "tool_calls" && word != "function_call") return false;
    const auto message = choice.find("message");
    const auto refusal = message ? message->find("refusal") : std::nullopt;
    if (refusal && refusal->is(Kind::kString)) return false;
  }
  return true;
}

void write_completion(std::string& out, std::string_view id, int64_t created, const Completion& completion,
                      const Extension* extension) {
  out.reserve(out.size() + completion.choices.size() + 800);
  append_head(out, id, "chat.completion", created, completion.model);
  out += R"(,"choices":)";
  out += completion.choices;
  out += R"(,"usage":)";
  append_usage(out, completion.usage);
  if (extension != nullptr) {
    out += R"(,"hengshi":)";
    append_extension(out, *extension);
  }
  out += '}';
}

int64_t estimate_tokens(std::string_view text) {
  // A CJK character is about 2/3 of a token, four Latin letters about one; counted in twelfths.
  constexpr int64_t kCjkTwelfths = 8;
  constexpr int64_t kOtherTwelfths = 3;
  int64_t twelfths = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0) == 0x80) continue;                       // Inside a character.
    twelfths += byte >= 0xE3 ? kCjkTwelfths : kOtherTwelfths;  // U+3000 and up.
  }
  return (twelfths + 11) / 12;
}

}  // namespace hengshi::api
