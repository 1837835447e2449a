// api.cc — what reading and writing the wire costs, without sockets.
//
// Usage: bench_api [ROUNDS]   Prints a table and one JSON line; CPU nanoseconds per call, best and median of
// the rounds.

#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "api/chat.h"
#include "api/json.h"
#include "base/digest.h"
#include "io/sse.h"

namespace {

using hengshi::api::Assembler;
using hengshi::api::ChatRequest;
using hengshi::api::ChunkWriter;
using hengshi::api::Completion;

constexpr std::string_view kBody =
    R"({"model":"hengshi","messages":[{"role":"system","content":"You help the owners of a small household robot. Answer )"
    R"(in two or three short sentences, in the language of the question, and never promise a repair date or a price."},)"
    R"({"role":"user","content":"The robot went back to its dock last night and now its light blinks orange. Do I have to )"
    R"(charge it longer, or is the battery worn out? \u8bf7\u7528\u4e2d\u6587\u56de\u7b54\u3002 It is about two years old."}],)"
    R"("temperature":0.2,"top_p":0.95,"max_tokens":512,"stream":false,"presence_penalty":0,"frequency_penalty":0,)"
    R"("user":"home-17/user-2002","seed":7})";

constexpr std::string_view kAnswer =
    "橙色指示灯闪烁表示机器人正在自检电池。请先把它放回充电座，连续充电四个小时，期间不要移动。如果指示灯仍然闪烁，"
    "说明电池容量已经明显下降，使用两年后出现这种情况是正常的，可以在应用里查看电池健康度并更换电池。";

constexpr std::string_view kChunk =
    R"({"id":"chatcmpl-0123456789","object":"chat.completion.chunk","created":1700000000,"model":"some-model-1",)"
    R"("system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" orange"},"logprobs":null,"finish_reason":null}]})";

struct Row {
  std::string_view name;
  double best_ns = 0;
  double median_ns = 0;
};

size_t sink = 0;  // Keeps results alive.

// CPU time of this thread: what others do on the machine is not counted.
double thread_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

Row measure(std::string_view name, size_t rounds, const std::function<size_t()>& call) {
  constexpr size_t kCalls = 500;
  std::vector<double> times;
  for (size_t round = 0; round < rounds; ++round) {
    const double from = thread_ns();
    for (size_t i = 0; i < kCalls; ++i) sink += call();
    times.push_back((thread_ns() - from) / kCalls);
  }
  std::ranges::sort(times);
  return {name, times.front(), times[times.size() / 2]};
}

ChatRequest request_of(std::string_view body) { return *hengshi::api::parse_chat(std::string(body)); }

std::vector<Row> run(size_t rounds) {
  const ChatRequest request = request_of(kBody);
  const Completion completion = hengshi::api::text_completion("hengshi", kAnswer, {.prompt = 120, .completion = 90});
  hengshi::api::Extension extension;
  extension.path = "cache.exact";
  extension.decision = "0123456789abcdef";
  extension.saved_tokens = 210;
  ChunkWriter writer("chatcmpl-1", 1700000000, "hengshi", false);
  std::string out;
  std::string event("data: ");
  event.append(kChunk) += "\n\n";
  hengshi::io::SseParser sse;
  hengshi::io::SseEvent got;
  std::vector<Row> rows;
  rows.push_back(measure("parse_chat", rounds, [] {
    std::string body;
    body.reserve(kBody.size() + 64);
    body = kBody;
    return hengshi::api::parse_chat(std::move(body))->question.size();
  }));
  const std::string canonical(340, 'x');
  rows.push_back(measure("JSON alone", rounds, [&request] {
    return hengshi::api::json::Document::of_thread().parse(request.body, request.body.capacity())->end_byte();
  }));
  rows.push_back(measure("SHA-256 of 340 B", rounds, [&canonical] { return size_t{hengshi::digest(canonical)[0]}; }));
  rows.push_back(measure("upstream_body", rounds, [&] { return upstream_body(request, "some-model-1").size(); }));
  rows.push_back(measure("write_completion", rounds, [&] {
    out.clear();
    write_completion(out, "chatcmpl-1", 1700000000, completion, &extension);
    return out.size();
  }));
  rows.push_back(measure("replay", rounds, [&] {
    out.clear();
    writer.replay(out, completion, &extension);
    return out.size();
  }));
  rows.push_back(measure("relay a chunk", rounds, [&] {
    out.clear();
    return writer.relay(out, kChunk, nullptr) ? out.size() : 0;
  }));
  rows.push_back(measure("assemble a chunk", rounds, [] {
    thread_local Assembler assembler;
    if (assembler.text().size() > 4'000) assembler = {};
    return static_cast<size_t>(assembler.add(kChunk)->visible);
  }));
  rows.push_back(measure("SSE event", rounds, [&] {
    const bool fine = sse.feed(event) && sse.next(got);
    return fine ? got.data.size() : 0;
  }));
  return rows;
}

}  // namespace

int main(int argc, char** argv) {
  const size_t rounds = argc > 1 ? static_cast<size_t>(std::max(std::atoi(argv[1]), 1)) : 200;
  const std::vector<Row> rows = run(rounds);
  std::printf("body %zu bytes, answer %zu bytes, chunk %zu bytes\n%-20s %10s %10s\n", kBody.size(), kAnswer.size(),
              kChunk.size(), "", "best ns", "median ns");
  std::string json = R"({"bench":"api")";
  for (const Row& row : rows) {
    std::printf("%-20.*s %10.0f %10.0f\n", static_cast<int>(row.name.size()), row.name.data(), row.best_ns,
                row.median_ns);
    json += ",\"" + std::string(row.name) + "\":{\"best_ns\":" + std::to_string(row.best_ns) +
            ",\"median_ns\":" + std::to_string(row.median_ns) + "}";
  }
  std::printf("%s}\n", json.c_str());
  return sink == 0 ? 1 : 0;
}
