#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "nn/test_model.h"
#include "nn/tokenizer.h"

// Any bytes as the text of a question.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using hengshi::nn::Tokenizer;
  static const Tokenizer plain = *Tokenizer::parse(hengshi::nn::test_tokenizer(), "t");
  static const Tokenizer lower = *Tokenizer::parse(hengshi::nn::test_tokenizer(), "t", true);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const Tokenizer* const tokenizer : {&plain, &lower}) {
    const auto all = tokenizer->encode(text);
    const auto cut = tokenizer->encode(text, 8);
    CHECK(all.size() == tokenizer->count(text) + 2, "count() counts what encode() makes");
    CHECK(cut.size() <= 8, "encode() keeps to its limit");
    for (size_t i = 0; i + 1 < cut.size(); ++i) CHECK(cut[i] == all[i], "cutting changes nothing before the cut");
    for (const int32_t id : all) CHECK(id >= 0 && static_cast<size_t>(id) < tokenizer->ids(), "an id has a row");
  }
  return 0;
}
