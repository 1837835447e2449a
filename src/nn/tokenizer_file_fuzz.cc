#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "nn/tokenizer.h"

// Any bytes as a tokenizer.json; what is accepted must also encode.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto tokenizer = hengshi::nn::Tokenizer::parse({reinterpret_cast<const char*>(data), size}, "tokenizer.json");
  if (!tokenizer) return 0;
  for (const int32_t id : tokenizer->encode("Reset my router? 重置路由器 [SEP] caf\u00e9 ##a \xff")) {
    CHECK(id >= 0 && static_cast<size_t>(id) < tokenizer->ids(), "an id has a row");
  }
  return 0;
}
