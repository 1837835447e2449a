// A pack of any bytes is read or refused: the input is its main file, a file of intents, of negatives, or a JSONL pack.

#include <cstddef>
#include <cstdint>
#include <string>

#include "train/pack.h"

namespace {

constexpr const char* kMain = "name = \"p\"\nlanguages = [\"zh\", \"en\"]\n";
constexpr const char* kIntents =
    "[[intent]]\nname = \"a\"\n[intent.zh]\nphrasings = [\"甲\"]\nanswers = [\"一\"]\n[intent.en]\nphrasings = "
    "[\"first\"]\nanswers = [\"one\"]\n[[intent]]\nname = \"b\"\n[intent.zh]\nphrasings = [\"乙\"]\nanswers = "
    "[\"二\"]\n[intent.en]\nphrasings = [\"second\"]\nanswers = [\"two\"]\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using hengshi::train::parse_pack;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)parse_pack({{"pack.toml", bytes}, {"intents/a.toml", kIntents}}, "p");
  (void)parse_pack({{"pack.toml", kMain}, {"intents/a.toml", bytes}}, "p");
  (void)parse_pack({{"pack.toml", kMain}, {"intents/a.toml", kIntents}, {"negatives/n.toml", bytes}}, "p");
  (void)hengshi::train::parse_jsonl_pack({"p.jsonl", bytes});
  return 0;
}
