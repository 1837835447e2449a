// Chunks, one a line: the assembler and the relay never crash, agree on what a chunk is, and what they write can be
// read back and played.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "api/chat.h"
#include "base/check.h"

namespace {

using hengshi::api::Assembler;
using hengshi::api::ChunkWriter;
using hengshi::api::Completion;

// Every event of `stream` but [DONE] is one line of data holding a chunk. Answers the text of them all.
std::string check_events(std::string_view stream) {
  Assembler all;
  constexpr std::string_view kData = "data: ";
  while (!stream.empty()) {
    CHECK(stream.starts_with(kData), "an event begins with data");
    const size_t end = stream.find("\n\n");
    CHECK(end != stream.npos, "an event ends with an empty line");
    const std::string_view data = stream.substr(kData.size(), end - kData.size());
    CHECK(data.find_first_of("\r\n") == data.npos, "data is one line");
    if (data != "[DONE]") {
      Assembler reader;
      CHECK(reader.add(data), "what is written can be read");
      CHECK(all.add(data), "what is written can be put together");
    }
    stream.remove_prefix(end + 2);
  }
  return all.text();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const bool usage = size % 2 == 0;
  ChunkWriter writer("chatcmpl-1", 1, "m", usage);
  const hengshi::api::Extension extension{.path = "cloud"};
  Assembler assembler;
  std::string out;
  while (!input.empty()) {
    const size_t end = std::min(input.find('\x1e'), input.size());
    const std::string_view chunk = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    if (!assembler.add(chunk)) break;
    CHECK(writer.relay(out, chunk, usage ? &extension : nullptr), "what can be assembled can be relayed");
  }
  const std::string relayed = check_events(out);
  const auto completion = assembler.completion();
  if (!completion) return 0;
  CHECK(relayed == assembler.text(), "what is passed on is what is kept");
  CHECK(hengshi::api::text_of(*completion) == assembler.text() || assembler.text().empty() ||
            completion->choices.find("\"content\":null") != std::string::npos,
        "the text is that of the choices");
  std::string replayed;
  writer.replay(replayed, *completion, nullptr);
  CHECK(replayed.ends_with("data: [DONE]\n\n"), "a finished answer can be played back");
  check_events(replayed);
  return 0;
}
