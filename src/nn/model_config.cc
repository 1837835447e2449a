#include "nn/model_config.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/file.h"

namespace hengshi::nn {

namespace {

tl::unexpected<Error> wrong(const std::string& file, std::string_view why) {
  return fail(ErrorCode::kInternal, fmt::format("{}: {}", file, why), file);
}

class JsonFile {
 public:
  static Result<JsonFile> parse(std::string_view json, const std::string& file) {
    JsonFile out;
    out.file_ = file;
    if (out.parser_->parse(simdjson::padded_string(json)).get_object().get(out.root_) != simdjson::SUCCESS) {
      return wrong(file, "no JSON object; run scripts/setup to write it again");
    }
    return out;
  }

  Result<size_t> size(const char* key, size_t least, size_t most) const {
    uint64_t value = 0;
    if (root_[key].get_uint64().get(value) != simdjson::SUCCESS || value < least || value > most) {
      return wrong(file_, fmt::format("{} must be a whole number from {} to {}", key, least, most));
    }
    return static_cast<size_t>(value);
  }
  size_t size_or(const char* key, size_t otherwise) const {
    uint64_t value = 0;
    return root_[key].get_uint64().get(value) == simdjson::SUCCESS ? static_cast<size_t>(value) : otherwise;
  }
  double number_or(const char* key, double otherwise) const {
    double value = 0;
    return root_[key].get_double().get(value) == simdjson::SUCCESS ? value : otherwise;
  }
  bool flag(const char* key) const {
    bool value = false;
    return root_[key].get_bool().get(value) == simdjson::SUCCESS && value;
  }
  std::string text_or(const char* key, std::string_view otherwise) const {
    std::string_view value;
    return std::string(root_[key].get_string().get(value) == simdjson::SUCCESS ? value : otherwise);
  }

 private:
  // Behind a pointer: the object refers into the parser, which may not move.
  std::unique_ptr<simdjson::dom::parser> parser_ = std::make_unique<simdjson::dom::parser>();
  simdjson::dom::object root_;
  std::string file_;
};

Result<void> check_shapes(const BertConfig& c, const std::string& file) {
  if (c.hidden % 64 != 0 || c.intermediate % 64 != 0) {
    return wrong(file, "hidden_size and intermediate_size must be multiples of 64: choose another model");
  }
  if (c.hidden % c.heads != 0 || c.head_size() % 16 != 0) {
    return wrong(file, "hidden_size / num_attention_heads must be a multiple of 16: choose another model");
  }
  return {};
}

Result<std::string> read_text(const std::string& path) {
  auto text = read_file(path);
  if (!text) return wrong(path, "cannot be read as a file; run scripts/setup");
  return text;
}

}  // namespace

Result<BertConfig> parse_bert_config(std::string_view json, const std::string& file) {
  TRY(const JsonFile told, JsonFile::parse(json, file));
  const std::string type = told.text_or("model_type", "");
  if (type != "bert") {
    return wrong(file, fmt::format("model_type \"{}\" is not supported; choose a model of type \"bert\"", type));
  }
  if (const auto act = told.text_or("hidden_act", "gelu"); act != "gelu") {
    return wrong(file, fmt::format("hidden_act \"{}\" is not supported; choose a model with \"gelu\"", act));
  }
  if (const auto position = told.text_or("position_embedding_type", "absolute"); position != "absolute") {
    return wrong(file, fmt::format("position_embedding_type \"{}\" is not supported; choose a model with \"absolute\"",
                                   position));
  }
  BertConfig out;
  TRY(out.vocabulary, told.size("vocab_size", 1, 1U << 21));
  TRY(out.hidden, told.size("hidden_size", 64, 4096));
  TRY(out.layers, told.size("num_hidden_layers", 1, 96));
  TRY(out.heads, told.size("num_attention_heads", 1, 256));
  TRY(out.intermediate, told.size("intermediate_size", 64, 16384));
  TRY(out.positions, told.size("max_position_embeddings", 3, 8192));
  TRY(out.types, told.size("type_vocab_size", 1, 16));
  out.epsilon = static_cast<float>(told.number_or("layer_norm_eps", 1e-12));
  if (!(out.epsilon > 0 && out.epsilon < 1)) return wrong(file, "layer_norm_eps must lie between 0 and 1");
  TRY_OK(check_shapes(out, file));
  return out;
}

Result<Pooling> parse_pooling(std::string_view json, const std::string& file) {
  TRY(const JsonFile told, JsonFile::parse(json, file));
  const bool cls = told.flag("pooling_mode_cls_token");
  const bool mean = told.flag("pooling_mode_mean_tokens");
  if (cls == mean)
    return wrong(file, "exactly one of pooling_mode_cls_token and pooling_mode_mean_tokens must be true");
  return cls ? Pooling::kCls : Pooling::kMean;
}

Result<Manifest> parse_manifest(std::string_view json, const std::string& file) {
  TRY(const JsonFile told, JsonFile::parse(json, file));
  Manifest out;
  out.name = told.text_or("name", "");
  out.sha256 = told.text_or("sha256", "");
  out.lowercase = told.flag("lowercase");
  out.max_tokens = told.size_or("max_tokens", 0);
  out.semantic_threshold = told.number_or("semantic_threshold", out.semantic_threshold);
  if (!(out.semantic_threshold > 0 && out.semantic_threshold <= 1)) {
    return wrong(file, "semantic_threshold must lie between 0 and 1");
  }
  return out;
}

Result<ModelConfig> read_model_config(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  ModelConfig out;
  const std::string config_path = folder + "/config.json";
  TRY(const std::string config, read_text(config_path));
  TRY(out.bert, parse_bert_config(config, config_path));
  if (const std::string path = folder + "/1_Pooling/config.json"; fs::exists(path, ignored)) {
    TRY(const std::string pooling, read_text(path));
    TRY(out.pooling, parse_pooling(pooling, path));
  }
  if (const std::string path = folder + "/hengshi.json"; fs::exists(path, ignored)) {
    TRY(const std::string manifest, read_text(path));
    TRY(out.manifest, parse_manifest(manifest, path));
  }
  Manifest& manifest = out.manifest;
  if (manifest.name.empty()) manifest.name = fs::path(folder).lexically_normal().filename().string();
  if (manifest.max_tokens == 0) manifest.max_tokens = out.bert.positions;
  if (manifest.max_tokens < 3 || manifest.max_tokens > out.bert.positions) {
    return wrong(folder + "/hengshi.json", fmt::format("max_tokens must lie between 3 and {}", out.bert.positions));
  }
  return out;
}

}  // namespace hengshi::nn
