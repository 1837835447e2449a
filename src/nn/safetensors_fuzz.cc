#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "nn/bert.h"
#include "nn/model_config.h"
#include "nn/safetensors.h"
#include "nn/test_model.h"

// Any bytes as a model.safetensors, read as the encoder would; up to the first newline, also as a config.json.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hengshi::nn;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string_view json = bytes.substr(0, bytes.find('\n'));
  (void)parse_bert_config(json, "config.json");
  (void)parse_pooling(json, "pooling.json");
  (void)parse_manifest(json, "hengshi.json");

  std::vector<float> aligned(size / sizeof(float) + 1);
  std::memcpy(aligned.data(), data, size);
  const std::string_view file(reinterpret_cast<const char*>(aligned.data()), size);
  const auto tensors = Safetensors::parse(file, "model.safetensors");
  if (!tensors) return 0;
  (void)tensors->tensor("w", std::vector<size_t>{2, 3});
  (void)tensors->tensor("b", std::vector<size_t>{2});
  static const BertConfig kConfig = *parse_bert_config(test_config(), "config.json");
  (void)Bert::load(kConfig, Pooling::kCls, *tensors);
  return 0;
}
