// chat.h — a chat completion on the wire: the request read once, answers and chunks written.
//
// Units:   tokens as the wire counts them; cost in micro-USD; times in the unit of the name.
// Errors:  kInvalidRequest with `param` naming the field ("messages[1].content"); never a throw, whatever the bytes.
// Threads: values and free functions; a parser is kept per thread inside.
// Source:  docs/decisions/0002-wire.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/grown.h"
#include "api/plain_chunk.h"
#include "base/digest.h"
#include "base/result.h"

namespace hengshi::api {

struct ChatRequest {
  std::string body;  // As the client sent it; what goes upstream is made from these bytes.
  std::string model;
  std::string user;      // The `user` field; empty when absent.
  std::string question;  // Text of the last message when its role is user (text parts joined by '\n'); else empty.
  Digest fingerprint{};  // Canonical JSON of all that shapes an answer, without the question (see 0002).
  bool stream = false;
  bool include_usage = false;
  bool has_system = false;        // A system or developer message is there.
  bool has_history = false;       // More than one user turn, or any assistant/tool message.
  int64_t max_tokens = 0;         // Smaller of max_tokens, max_completion_tokens; 0 when unset.
  std::vector<std::string> stop;  // Stop sequences.
  std::string beyond_local;       // First field a cache, rule or light answer cannot honour ("tools"); else empty.
  bool extension = true;          // `"hengshi": false` or `{"extension": false}` opts out of the body field.
};

// Reads and validates; keeps `body` inside the result.
Result<ChatRequest> parse_chat(std::string body);

// The body for an upstream: the client's bytes but for `model`, `stream`, `stream_options` and our own `hengshi`.
std::string upstream_body(const ChatRequest& request, std::string_view model);

struct Usage {
  int64_t prompt = 0;
  int64_t completion = 0;
  int64_t cached = 0;      // part of prompt
  int64_t reasoning = 0;   // part of completion
  bool estimated = false;  // counted by us because the upstream said nothing
};

// A finished answer. `choices` is the JSON array as a whole response carries it; it is also what caches store.
struct Completion {
  std::string model;
  std::string choices;
  Usage usage;
};

// One assistant message of plain text, finish_reason stop.
Completion text_completion(std::string_view model, std::string_view text, Usage usage);

// First choice's content; empty when it has none.
std::string text_of(const Completion& completion);

// True when every choice ended by itself (stop, tool_calls) and none is a refusal: what may be stored.
bool complete(const Completion& completion);

// The `hengshi` field: how the answer came about. Absent values are left out.
struct Extension {
  std::string_view path;
  std::string_view model;  // light artifact, encoder or upstream that decided
  std::string_view decision;
  std::optional<double> confidence;
  std::optional<double> threshold;
  std::string_view asks;  // the slot the answer asks for, when it asks
  std::optional<int64_t> cache_age_s;
  std::string_view degraded;  // the notice's reason, when degraded
  bool answered = true;
  int64_t saved_tokens = 0;
  int64_t cost_micro_usd = 0;
  int64_t total_us = 0;
};

// Appends a whole chat.completion. `extension` may be null (opted out).
void write_completion(std::string& out, std::string_view id, int64_t created, const Completion& completion,
                      const Extension* extension);

// Writes SSE events ("data: …\n\n") of one answer, each call appending to `out`.
class ChunkWriter {
 public:
  ChunkWriter(std::string id, int64_t created, std::string model, bool include_usage)
      : id_(std::move(id)), created_(created), model_(std::move(model)), include_usage_(include_usage) {}

  // A finished answer as a stream: role, content in pieces, tool calls, finish reasons, usage when asked, [DONE].
  void replay(std::string& out, const Completion& completion, const Extension* extension) const;

  // An upstream's chunk passed on: its bytes with id, created and model made ours, a role once per choice, usage as the
  // client asked (in a chunk of its own, once, after the last finish reason), and `extension` on it when not null.
  // Nothing is written for a chunk that only carried usage nobody asked for, for a choice after its finish reason, nor
  // after an error.
  Result<void> relay(std::string& out, std::string_view chunk, const Extension* extension);

  bool told_usage() const { return usage_written_; }
  // The usage chunk (`choices: []`) for a client that asked and has not got one from relay().
  void usage(std::string& out, const Usage& usage, const Extension* extension) const;

  static void done(std::string& out) { out += "data: [DONE]\n\n"; }
  static void error(std::string& out, const Error& error);

 private:
  // Where the choices begin in `out`.
  size_t relay_members(std::string& out, json::Value root, std::string_view usage);
  bool has_finished(json::Value choice) const;
  void relay_choices(std::string& out, json::Value choices);
  void relay_choice(std::string& out, json::Value choice, size_t& copied);
  void learn(std::string_view chunk, const Chunk& read, std::string_view event, size_t choices_at);
  void write_usage(std::string& out, std::string_view usage, const Extension* extension) const;

  std::string id_;
  int64_t created_;
  std::string model_;
  bool include_usage_;
  bool usage_written_ = false;
  bool failed_ = false;
  std::vector<int64_t> greeted_;               // Choices whose role was passed on.
  std::vector<int64_t> finished_;              // Choices whose finish reason was.
  PlainChunk plain_;                           // As it comes.
  std::string plain_event_, plain_event_end_;  // As it is passed on, around its text.
};

// Folds an upstream's chunks into the finished answer.
class Assembler {
 public:
  struct Seen {
    bool visible = false;   // text, a refusal or a tool call came with this chunk
    bool finished = false;  // a finish_reason came with it
    bool counts = false;    // usage came with it
    bool usage_only = false;
    bool ignored = false;  // it says nothing but more of choices that had finished
  };
  // kUpstream when the chunk is no chat chunk, or all chunks together pass 16 MB; an {"error": …} chunk comes back as the
  // error it states.
  Result<Seen> add(std::string_view chunk);
  bool finished() const;  // every choice seen has a finish_reason
  bool has_usage() const { return usage_.has_value(); }
  std::string text() const;  // of choice 0 so far
  // kUpstream when it is not finished(). When the upstream sent no usage, completion tokens are estimated from the text
  // and prompt tokens are 0: the caller knows the prompt.
  Result<Completion> completion() const;

 private:
  struct Choice {
    int64_t index = 0;
    std::string finish_reason;
    Grown message;  // All of delta but its tool calls.
    Grown logprobs;
    std::vector<std::pair<int64_t, Grown>> tool_calls;  // By index.
  };
  Choice& choice_of(int64_t index);
  Result<Seen> add_read(std::string_view chunk);
  Result<bool> add_choice(json::Value choice, Seen& seen);  // False: that choice had finished.
  static bool add_delta(Choice& choice, json::Value delta);
  static void add_tool_call(Choice& choice, json::Value call);
  static void write_choice(std::string& out, const Choice& choice);

  std::vector<Choice> choices_;
  std::optional<Usage> usage_;
  std::string model_;
  PlainChunk plain_;
  int64_t plain_choice_ = 0;
  size_t bytes_ = 0;  // of all chunks
  bool failed_ = false;
};

// A rough count for usage nobody stated: marked estimated by its users.
int64_t estimate_tokens(std::string_view text);

}  // namespace hengshi::api
