// replay.cc — a finished answer played back as the stream it might have been.

#include <algorithm>
#include <array>

#include "api/chat.h"
#include "api/event.h"
#include "api/json.h"
#include "api/splice.h"
#include "api/wire_parts.h"
#include "base/log.h"

namespace hengshi::api {

using json::Kind;
using json::Splice;
using json::Value;

namespace {

// A piece of at most kPiece bytes that does not cut a character.
std::string_view next_piece(std::string_view text) {
  constexpr size_t kPiece = 48;
  if (text.size() <= kPiece) return text;
  size_t end = kPiece;
  while (end > 1 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

// Plays one stored choice back: events that differ in delta, logprobs and finish reason.
class Replay {
 public:
  Replay(std::string& out, const std::string& head, const std::string& tail, Value choice)
      : out_(out), head_(head), tail_(tail) {
    const auto index = choice.find("index");
    json::append_integer(index_, index ? index->integer().value_or(0) : 0);
    const auto reason = choice.find("finish_reason");
    reason_ = reason ? reason->raw() : R"("stop")";
    if (const auto logprobs = choice.find("logprobs")) logprobs_ = logprobs->raw();
  }

  // All but the finish reason; `first_tail` ends the first event instead of the common tail.
  void message(Value message, const std::string& first_tail) {
    const auto content = message.find("content");
    const bool spoken = content && content->is(Kind::kString);
    event(spoken ? R"({"role":"assistant","content":"","refusal":null})"
                 : R"({"role":"assistant","content":null,"refusal":null})",
          first_tail);
    for (const Value member : message) other(member);
    if (spoken) say(*content);
    if (const auto refusal = message.find("refusal"); refusal && refusal->is(Kind::kString))
      pieces("refusal", *refusal);
    if (const auto call = message.find("function_call")) function_call(*call);
    if (const auto calls = message.find("tool_calls"); calls && calls->is(Kind::kArray)) tool_calls(*calls);
  }

  void finish(const std::string& last_tail) { event("{}", last_tail, logprobs_, reason_); }

 private:
  void event(std::string_view delta, const std::string& tail, std::string_view logprobs = "null",
             std::string_view reason = "null") {
    const size_t begin = out_.size();
    ((out_ += head_) += index_) += R"(,"delta":)";
    ((out_ += delta) += R"(,"logprobs":)") += logprobs;
    ((out_ += R"(,"finish_reason":)") += reason) += "}]";
    out_ += tail;
    end_event(out_, begin);
  }

  void pieces(std::string_view name, Value value) {
    std::string_view text = value.text();
    while (!text.empty()) {
      const std::string_view piece = next_piece(text);
      delta_.assign(R"({")").append(name) += R"(":)";
      append_json_string(delta_, piece);
      delta_ += '}';
      event(delta_, tail_);
      text.remove_prefix(piece.size());
    }
  }

  // Log-probabilities belong to tokens, not to our pieces: they go with the whole text at once.
  void say(Value content) {
    if (logprobs_ == "null" || content.text().empty()) return pieces("content", content);
    delta_.assign(R"({"content":)");
    append_json_string(delta_, content.text());
    delta_ += '}';
    event(delta_, tail_, logprobs_);
    logprobs_ = "null";
  }

  // A field without a place of its own, such as reasoning_content.
  void other(Value member) {
    static constexpr std::array<std::string_view, 5> kPlaced = {"role", "content", "refusal", "function_call",
                                                                "tool_calls"};
    const std::string_view name = member.key();
    if (std::ranges::find(kPlaced, name) != kPlaced.end() || member.is(Kind::kNull)) return;
    if (name == "annotations" && member.begin() == member.end()) return;
    if (member.is(Kind::kString) && !member.key_escaped()) return pieces(name, member);
    delta_.clear();
    delta_ += '{';
    append_json_string(delta_, name);
    (delta_ += ':') += member.raw();
    delta_ += '}';
    event(delta_, tail_);
  }

  void function_call(Value call) {
    if (!call.is(Kind::kObject)) return;
    delta_.assign(R"({"function_call":)");
    without_arguments(call);
    delta_ += '}';
    event(delta_, tail_);
    arguments(call, R"({"function_call":{"arguments":)", "}}");
  }

  void tool_calls(Value calls) {
    int64_t index = 0;
    for (const Value call : calls) {
      delta_.assign(R"({"tool_calls":[{"index":)");
      json::append_integer(delta_, index);
      for (const Value member : call) {
        delta_ += ',';
        append_json_string(delta_, member.key());
        delta_ += ':';
        if (member.key() == "function" && member.is(Kind::kObject)) {
          without_arguments(member);
        } else {
          delta_ += member.raw();
        }
      }
      delta_ += "}]}";
      event(delta_, tail_);
      std::string before = R"({"tool_calls":[{"index":)";
      json::append_integer(before, index++);
      before += R"(,"function":{"arguments":)";
      if (const auto function = call.find("function")) arguments(*function, before, "}}]}");
    }
  }

  void without_arguments(Value function) {
    Splice splice(delta_, function);
    for (const Value member : function) {
      if (member.key() == "arguments" && member.is(Kind::kString)) {
        splice.replace(member, R"("")");
      } else {
        splice.keep(member);
      }
    }
    splice.finish();
  }

  void arguments(Value function, std::string_view before, std::string_view after) {
    std::string_view text = text_member(function, "arguments");
    while (!text.empty()) {
      const std::string_view piece = next_piece(text);
      delta_.assign(before);
      append_json_string(delta_, piece);
      delta_ += after;
      event(delta_, tail_);
      text.remove_prefix(piece.size());
    }
  }

  std::string& out_;
  const std::string& head_;
  const std::string& tail_;
  std::string index_;
  std::string delta_;
  std::string_view reason_;
  std::string_view logprobs_ = "null";
};

}  // namespace

void ChunkWriter::replay(std::string& out, const Completion& completion, const Extension* extension) const {
  const auto choices = json::Document::of_thread().parse(completion.choices);
  if (!choices || !choices->is(Kind::kArray)) {
    return error(out, {ErrorCode::kInternal, "The stored answer cannot be read."});
  }
  std::string head(kData);
  append_head(head, id_, kChunkObject, created_, model_);
  head += R"(,"choices":[{"index":)";
  const std::string plain = tail_of(include_usage_, nullptr);
  const std::string shown = tail_of(include_usage_, extension);
  const std::string& last = include_usage_ ? plain : shown;
  bool first = true;
  for (auto it = choices->begin(); !(it == choices->end());) {
    const Value choice = *it;
    Replay replay(out, head, plain, choice);
    if (const auto message = choice.find("message")) replay.message(*message, first ? shown : plain);
    first = false;
    replay.finish(++it == choices->end() ? last : plain);
  }
  usage(out, completion.usage, extension);
  done(out);
}

}  // namespace hengshi::api
