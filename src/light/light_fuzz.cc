// The two files of an artifact, of any bytes, are read or refused; what was read answers without harm.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "light/answers.h"
#include "light/judge.h"
#include "light/weights.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto book = hengshi::light::AnswerBook::parse(bytes)) {
    for (size_t intent = 0; intent < book->size(); ++intent) (void)book->answer(intent, "订单 AB12345678 到哪了", 3);
  }
  const auto weights = hengshi::light::read_weights(bytes);
  if (!weights) return 0;
  const std::vector<float> embedding(weights->heads.encoder.dim, 0.1F);
  const auto scores = hengshi::light::score(weights->heads, weights->language, "怎么连接wifi", embedding);
  const auto reading = hengshi::light::read(weights->heads, weights->fusion, scores, embedding);
  (void)weights->confidence.probability(reading.signals, reading.intent);
  return 0;
}
