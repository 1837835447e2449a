// test_model.h — a small model of random weights, whole or spoilt on purpose, for the tests of this room.
//
// Shapes:  vocabulary 32, hidden 64, one or two layers, 4 heads, intermediate 128, 20 positions.
#pragma once

#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "base/test_folder.h"

namespace hengshi::nn {

struct TestTensor {
  std::vector<size_t> shape;
  std::vector<float> values;
};

using TestTensors = std::map<std::string, TestTensor>;

inline TestTensors test_tensors(size_t layers = 2) {
  std::mt19937 random(7);
  TestTensors out;
  const auto put = [&](const std::string& name, std::vector<size_t> shape, float spread, float middle = 0) {
    std::normal_distribution<float> normal(middle, spread);
    size_t count = 1;
    for (const size_t n : shape) count *= n;
    TestTensor tensor{std::move(shape), std::vector<float>(count)};
    for (float& v : tensor.values) v = normal(random);
    out[name] = std::move(tensor);
  };
  const auto norm = [&](const std::string& name) {
    put(name + ".weight", {64}, 0.1F, 1);
    put(name + ".bias", {64}, 0.1F);
    out[name + ".bias"].values[11] = 9;  // real models have such a channel
  };
  const auto linear = [&](const std::string& name, size_t to, size_t from) {
    put(name + ".weight", {to, from}, 0.1F);
    put(name + ".bias", {to}, 0.05F);
  };
  put("embeddings.word_embeddings.weight", {32, 64}, 1);
  put("embeddings.position_embeddings.weight", {20, 64}, 0.1F);
  put("embeddings.token_type_embeddings.weight", {2, 64}, 0.1F);
  norm("embeddings.LayerNorm");
  for (size_t l = 0; l < layers; ++l) {
    const std::string at = "encoder.layer." + std::to_string(l) + ".";
    for (const char* const part : {"query", "key", "value"}) linear(at + "attention.self." + part, 64, 64);
    linear(at + "attention.output.dense", 64, 64);
    norm(at + "attention.output.LayerNorm");
    linear(at + "intermediate.dense", 128, 64);
    linear(at + "output.dense", 64, 128);
    norm(at + "output.LayerNorm");
  }
  return out;
}

inline std::string safetensors_bytes(const TestTensors& tensors) {
  std::string header = "{";
  std::string data;
  for (const auto& [name, tensor] : tensors) {
    const size_t begin = data.size();
    data.append(reinterpret_cast<const char*>(tensor.values.data()), tensor.values.size() * sizeof(float));
    if (header.size() > 1) header += ',';
    header += fmt::format(R"("{}":{{"dtype":"F32","shape":[{}],"data_offsets":[{},{}]}})", name,
                          fmt::join(tensor.shape, ","), begin, data.size());
  }
  header += "}";
  header.append((8 - header.size() % 8) % 8, ' ');
  std::string out(8, '\0');
  for (size_t i = 0; i < 8; ++i) out[i] = static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return out + header + data;
}

inline std::string test_config(const std::string& type = "bert", size_t vocabulary = 32) {
  return "{\"model_type\":\"" + type + "\",\"vocab_size\":" + std::to_string(vocabulary) +
         ",\"hidden_size\":64,\"num_hidden_layers\":2,\"num_attention_heads\":4,\"intermediate_size\":128,"
         "\"max_position_embeddings\":20,\"type_vocab_size\":2,\"layer_norm_eps\":1e-12,\"hidden_act\":\"gelu\"}";
}

inline std::string test_tokenizer() {
  return R"({"added_tokens":[{"id":0,"content":"[PAD]","special":true},{"id":1,"content":"[UNK]","special":true},
    {"id":2,"content":"[CLS]","special":true},{"id":3,"content":"[SEP]","special":true}],
    "normalizer":{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":false},
    "pre_tokenizer":{"type":"BertPreTokenizer"},
    "post_processor":{"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"[CLS]","type_id":0}},
      {"Sequence":{"id":"A","type_id":0}},{"SpecialToken":{"id":"[SEP]","type_id":0}}]},
    "model":{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":12,
      "vocab":{"[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"router":4,"reset":5,"my":6,"un":7,"##aff":8,"##able":9,
      "路":10,"由":11,"器":12,"?":13,"？":14,"caf":15,"##e":16,"##é":17,"wi":18,"-":19,"fi":20,"a":21,"##a":22,"b":23}}})";
}

// A model's folder, gone with the object.
class TestFolder {
 public:
  explicit TestFolder(const TestTensors& tensors = test_tensors()) {
    write("config.json", test_config());
    write("tokenizer.json", test_tokenizer());
    write("model.safetensors", safetensors_bytes(tensors));
    pooling(true);
  }

  void write(const std::string& name, const std::string& bytes) const { folder_.write(name, bytes); }
  void pooling(bool cls) const {
    write("1_Pooling/config.json", cls ? R"({"pooling_mode_cls_token":true,"pooling_mode_mean_tokens":false})"
                                       : R"({"pooling_mode_cls_token":false,"pooling_mode_mean_tokens":true})");
  }
  const std::string& path() const { return folder_.path(); }

 private:
  TempFolder folder_;
};

}  // namespace hengshi::nn
