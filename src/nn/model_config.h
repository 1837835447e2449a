// model_config.h — what a model folder says about its network: config.json, 1_Pooling/config.json, hengshi.json.
//
// Errors:  each names the file, what is wrong and what to do; a key that is missing or out of range is an error, except
//          in the two optional files, whose absence means the defaults below.
// Threads: values.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hengshi::nn {

enum class Pooling { kCls, kMean };

struct BertConfig {
  size_t vocabulary = 0;
  size_t hidden = 0;
  size_t layers = 0;
  size_t heads = 0;
  size_t intermediate = 0;
  size_t positions = 0;
  size_t types = 0;
  float epsilon = 1e-12F;

  size_t head_size() const { return hidden / heads; }
};

struct Manifest {
  std::string name;
  std::string sha256;      // of model.safetensors; empty = not checked
  bool lowercase = false;  // lower-case and strip accents before the tokenizer
  size_t max_tokens = 0;   // 0 = as many as there are positions
  double semantic_threshold = 0.9;
};

Result<BertConfig> parse_bert_config(std::string_view json, const std::string& file);
Result<Pooling> parse_pooling(std::string_view json, const std::string& file);
Result<Manifest> parse_manifest(std::string_view json, const std::string& file);

struct ModelConfig {
  BertConfig bert;
  Pooling pooling = Pooling::kMean;
  Manifest manifest;
};

// Reads the three; without 1_Pooling the mean is taken, without hengshi.json the folder's name.
Result<ModelConfig> read_model_config(const std::string& folder);

}  // namespace hengshi::nn
