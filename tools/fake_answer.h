// fake_answer.h — the fake model: it reads a chat request and says the question back, always the same for the same.
//
// Units:   a token is a word with the space before it, or one character of Chinese.
// Errors:  a body that is no chat request is kInvalidRequest.
// Threads: values and free functions.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "base/log.h"
#include "base/result.h"

namespace fake {

using hengshi::append_json_string;
using hengshi::api::json::Kind;
using hengshi::api::json::Value;

struct ChatCall {
  std::string model;
  std::string question;
  bool stream = false;
  bool include_usage = false;
  int64_t choices = 1;
  int64_t max_tokens = 0;          // 0: no limit
  std::vector<std::string> tools;  // names of functions to call
};

inline std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

inline std::string text_of_content(Value content) {
  if (content.is(Kind::kString)) return std::string(content.text());
  std::string out;
  if (!content.is(Kind::kArray)) return out;
  for (const Value part : content) {
    const auto text = part.is(Kind::kObject) ? part.find("text") : std::nullopt;
    if (text && text->is(Kind::kString)) out += text->text();
  }
  return out;
}

// The last message's text; tools are called unless it already brings a tool's result.
inline void read_messages(Value messages, ChatCall& call) {
  for (const Value message : messages) {
    if (!message.is(Kind::kObject)) continue;
    const auto role = message.find("role");
    const auto content = message.find("content");
    if (content) call.question = text_of_content(*content);
    if (role && role->text() == "tool") call.tools.clear();
  }
}

inline void read_tools(Value root, ChatCall& call) {
  const auto choice = root.find("tool_choice");
  const auto tools = root.find("tools");
  if (!tools || !tools->is(Kind::kArray) || (choice && choice->text() == "none")) return;
  constexpr size_t kParallel = 2;
  for (const Value tool : *tools) {
    const auto function = tool.is(Kind::kObject) ? tool.find("function") : std::nullopt;
    const auto name = function && function->is(Kind::kObject) ? function->find("name") : std::nullopt;
    if (name && name->is(Kind::kString) && call.tools.size() < kParallel) call.tools.emplace_back(name->text());
  }
}

inline hengshi::Result<ChatCall> read_call(std::string_view body) {
  TRY(const Value root, hengshi::api::json::Document::of_thread().parse(body));
  const auto messages = root.is(Kind::kObject) ? root.find("messages") : std::nullopt;
  if (!messages || !messages->is(Kind::kArray)) {
    return hengshi::fail(hengshi::ErrorCode::kInvalidRequest, "this is no chat request");
  }
  ChatCall out;
  if (const auto model = root.find("model")) out.model = model->text();
  if (const auto stream = root.find("stream")) out.stream = stream->is(Kind::kTrue);
  if (const auto options = root.find("stream_options"); options && options->is(Kind::kObject)) {
    const auto usage = options->find("include_usage");
    out.include_usage = usage && usage->is(Kind::kTrue);
  }
  constexpr int64_t kMostChoices = 8;
  if (const auto n = root.find("n"); n && n->integer())
    out.choices = std::clamp<int64_t>(*n->integer(), 1, kMostChoices);
  for (const std::string_view key : {"max_tokens", "max_completion_tokens"}) {
    if (const auto limit = root.find(key); limit && limit->integer()) out.max_tokens = *limit->integer();
  }
  read_tools(root, out);
  read_messages(*messages, out);
  return out;
}

inline std::vector<std::string> tokens_of(std::string_view text) {
  std::vector<std::string> out;
  bool word = false;
  for (size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const size_t length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    const bool ascii = c < 0x80;
    const bool joins = ascii && word && c != ' ';
    if (!joins) out.emplace_back();
    out.back() += text.substr(i, length);
    word = ascii;
    i += length;
  }
  return out;
}

inline bool has_han(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0xE4 && byte <= 0xE9;  // lead bytes of U+4000 … U+9FFF
  });
}

// What the model says: pieces of text, or fragments of tool calls, as the `delta`s of a stream.
struct Saying {
  std::string text;     // empty when tools are called
  std::string message;  // of a whole answer
  std::vector<std::string> deltas;
  std::string finish_reason;
  int64_t prompt_tokens = 0;
  int64_t completion_tokens = 0;
};

inline Saying say_text(const ChatCall& call, int64_t least_tokens) {
  Saying out;
  auto tokens = tokens_of((has_han(call.question) ? "回答：" : "Answer: ") + call.question);
  for (int64_t i = 1; std::ssize(tokens) < least_tokens; ++i) tokens.push_back(" word" + std::to_string(i));
  const bool cut = call.max_tokens > 0 && std::ssize(tokens) > call.max_tokens;
  if (cut) tokens.resize(static_cast<size_t>(call.max_tokens));
  for (const std::string& token : tokens) {
    out.text += token;
    out.deltas.push_back("{\"content\":" + json_string(token) + "}");
  }
  out.finish_reason = cut ? "length" : "stop";
  out.message =
      "{\"role\":\"assistant\",\"content\":" + json_string(out.text) + ",\"refusal\":null,\"annotations\":[]}";
  return out;
}

inline Saying say_tools(const ChatCall& call) {
  Saying out;
  const std::string value = json_string(call.question);
  std::string calls;
  for (size_t i = 0; i < call.tools.size(); ++i) {
    const std::string index = std::to_string(i);
    const std::string head = "\"id\":\"call_fake_" + index +
                             "\",\"type\":\"function\",\"function\":{\"name\":" + json_string(call.tools[i]) +
                             ",\"arguments\":";
    calls += (i > 0 ? ",{" : "{") + head + json_string("{\"question\": " + value + "}") + "}}";
    out.deltas.push_back("{\"tool_calls\":[{\"index\":" + index + "," + head + "\"\"}}]}");
    for (const std::string& fragment : {std::string("{\"question\""), std::string(": "), value, std::string("}")}) {
      out.deltas.push_back("{\"tool_calls\":[{\"index\":" + index +
                           ",\"function\":{\"arguments\":" + json_string(fragment) + "}}]}");
    }
  }
  out.finish_reason = "tool_calls";
  out.message =
      "{\"role\":\"assistant\",\"content\":null,\"refusal\":null,\"annotations\":[],\"tool_calls\":[" + calls + "]}";
  return out;
}

inline Saying say(const ChatCall& call, int64_t least_tokens) {
  Saying out = call.tools.empty() ? say_text(call, least_tokens) : say_tools(call);
  out.prompt_tokens = std::ssize(tokens_of(call.question)) + 3;
  out.completion_tokens = std::ssize(out.deltas) * call.choices;
  return out;
}

inline std::string usage_of(const Saying& saying) {
  return "{\"prompt_tokens\":" + std::to_string(saying.prompt_tokens) +
         ",\"completion_tokens\":" + std::to_string(saying.completion_tokens) +
         ",\"total_tokens\":" + std::to_string(saying.prompt_tokens + saying.completion_tokens) +
         ",\"prompt_tokens_details\":{\"cached_tokens\":0,\"audio_tokens\":0},\"completion_tokens_details\":{"
         "\"reasoning_tokens\":0,\"audio_tokens\":0,\"accepted_prediction_tokens\":0,\"rejected_prediction_tokens\":0}"
         "}";
}

struct Naming {  // the same on every chunk of an answer
  std::string id;
  std::string model;
  int64_t created = 0;
};

inline std::string head_of(const Naming& naming, std::string_view object) {
  return "{\"id\":\"" + naming.id + "\",\"object\":\"" + std::string(object) +
         "\",\"created\":" + std::to_string(naming.created) + ",\"model\":" + json_string(naming.model) +
         ",\"service_tier\":\"default\",\"system_fingerprint\":\"fp_fake\",";
}

inline std::string whole_answer(const Naming& naming, const ChatCall& call, const Saying& saying, bool usage) {
  std::string out = head_of(naming, "chat.completion") + "\"choices\":[";
  for (int64_t i = 0; i < call.choices; ++i) {
    out += (i > 0 ? ",{\"index\":" : "{\"index\":") + std::to_string(i) + ",\"message\":" + saying.message +
           ",\"logprobs\":null,\"finish_reason\":\"" + saying.finish_reason + "\"}";
  }
  out += "]";
  if (usage) out += ",\"usage\":" + usage_of(saying);
  return out + "}";
}

class EventWriter {
 public:
  EventWriter(const Naming& naming, const ChatCall& call)
      : head_("data: " + head_of(naming, "chat.completion.chunk") + "\"choices\":["),
        tail_(call.include_usage ? "],\"usage\":null}\n\n" : "]}\n\n"),
        choices_(call.choices) {}

  // One event for each choice.
  void delta(std::string& out, std::string_view delta, std::string_view finish_reason = {}) const {
    for (int64_t i = 0; i < choices_; ++i) {
      out += head_;
      out += "{\"index\":";
      out += std::to_string(i);
      out += ",\"delta\":";
      out += delta;
      out += ",\"logprobs\":null,\"finish_reason\":";
      out += finish_reason.empty() ? "null" : "\"" + std::string(finish_reason) + "\"";
      out += "}";
      out += tail_;
    }
  }
  void usage(std::string& out, const Saying& saying) const {
    out += head_ + "],\"usage\":" + usage_of(saying) + "}\n\n";
  }

 private:
  std::string head_, tail_;
  int64_t choices_;
};

}  // namespace fake
