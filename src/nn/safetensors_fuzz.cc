#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "nn/bert.h"
#include "nn/model_config.h"
#include "nn/safetensors.h"
#include "nn/test_model.h"

namespace hengshi::nn {
namespace {

void read_as_config(std::string_view json) {
  if (const auto config = parse_bert_config(json, "config.json"); config) {
    CHECK(config->hidden == config->heads * config->head_size(), "an accepted shape divides");
  }
  const auto pooling = parse_pooling(json, "pooling.json");
  const auto manifest = parse_manifest(json, "hengshi.json");
  CHECK(pooling || !pooling.error().message.empty(), "a refusal says why");
  CHECK(!manifest || manifest->semantic_threshold <= 1, "an accepted threshold is a cosine");
}

void read_as_weights(std::string_view bytes) {
  const auto tensors = Safetensors::parse(bytes, "model.safetensors");
  if (!tensors) return;
  const auto w = tensors->tensor("w", std::vector<size_t>{2, 3});
  CHECK(!w || w->size() == 6, "an accepted tensor has its shape");
  static const BertConfig config = *parse_bert_config(test_config(), "config.json");
  const auto bert = Bert::load(config, Pooling::kCls, *tensors);
  CHECK(bert || !bert.error().message.empty(), "a refusal says why");
}

}  // namespace
}  // namespace hengshi::nn

// Any bytes as a model.safetensors, read as the encoder would; up to the first newline, also as its JSON files.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  hengshi::nn::read_as_config(bytes.substr(0, bytes.find('\n')));
  std::vector<float> aligned(size / sizeof(float) + 1);
  if (size > 0) std::memcpy(aligned.data(), data, size);
  hengshi::nn::read_as_weights({reinterpret_cast<const char*>(aligned.data()), size});
  return 0;
}
