#include "nn/encoder.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/check.h"
#include "base/digest.h"
#include "base/log.h"
#include "nn/bert.h"
#include "nn/kernels.h"
#include "nn/model_config.h"
#include "nn/safetensors.h"
#include "nn/tokenizer.h"

namespace hengshi::nn {

namespace {

constexpr size_t kVersionDigits = 12;

class BertEncoder final : public Encoder {
 public:
  BertEncoder(ModelConfig config, std::string version, Tokenizer tokenizer, Bert bert, const Kernels& kernels)
      : config_(std::move(config)),
        version_(std::move(version)),
        tokenizer_(std::move(tokenizer)),
        bert_(std::move(bert)),
        kernels_(kernels) {}

  const std::string& name() const override { return config_.manifest.name; }
  const std::string& version() const override { return version_; }
  bool verified() const override { return !config_.manifest.sha256.empty(); }
  size_t dim() const override { return config_.bert.hidden; }
  size_t max_tokens() const override { return config_.manifest.max_tokens; }
  size_t vocabulary() const override { return config_.bert.vocabulary; }
  double semantic_threshold() const override { return config_.manifest.semantic_threshold; }
  size_t memory_bytes() const override { return bert_.memory_bytes() + tokenizer_.memory_bytes(); }

  std::vector<int32_t> tokenize(std::string_view text) const override { return tokenizer_.encode(text, max_tokens()); }
  size_t count_tokens(std::string_view text) const override { return tokenizer_.count(text); }
  void encode(std::string_view text, std::span<float> out) const override { encode_ids(tokenize(text), out); }

  void encode_ids(std::span<const int32_t> ids, std::span<float> out) const override {
    CHECK(out.size() == dim(), "the vector has the encoder's dimension");
    const auto kept = ids.first(std::min(ids.size(), max_tokens()));
    const auto known = [this](int32_t id) { return id >= 0 && static_cast<size_t>(id) < config_.bert.vocabulary; };
    if (!kept.empty() && std::all_of(kept.begin(), kept.end(), known)) return bert_.forward(kernels_, kept, out);
    std::vector<int32_t> mended(kept.begin(), kept.end());
    if (mended.empty()) mended.push_back(tokenizer_.unknown());
    for (int32_t& id : mended) id = known(id) ? id : tokenizer_.unknown();
    bert_.forward(kernels_, mended, out);
  }

 private:
  ModelConfig config_;
  std::string version_;
  Tokenizer tokenizer_;
  Bert bert_;
  const Kernels& kernels_;
};

Result<Tokenizer> load_tokenizer(const std::string& path, const ModelConfig& config) {
  TRY(const MappedFile file, MappedFile::open(path));
  TRY(Tokenizer tokenizer, Tokenizer::parse(file.bytes(), path, config.manifest.lowercase));
  if (tokenizer.ids() > config.bert.vocabulary) {
    return fail(ErrorCode::kInternal,
                fmt::format("{}: it has {} ids, config.json's vocab_size is {}: the files are of two models; run "
                            "scripts/setup to write them again",
                            path, tokenizer.ids(), config.bert.vocabulary),
                path);
  }
  return tokenizer;
}

}  // namespace

Result<std::unique_ptr<const Encoder>> Encoder::load(const std::string& folder) { return load(folder, detect_cpu()); }

Result<std::unique_ptr<const Encoder>> Encoder::load(const std::string& folder, CpuLevel level) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) {
    return fail(ErrorCode::kNotFound,
                fmt::format("{}: no such model folder; scripts/setup puts the encoders into models/", folder), folder);
  }
  TRY(ModelConfig config, read_model_config(folder));
  TRY(Tokenizer tokenizer, load_tokenizer(folder + "/tokenizer.json", config));
  const std::string path = folder + "/model.safetensors";
  TRY(const MappedFile file, MappedFile::open(path));
  TRY(const Safetensors tensors, Safetensors::parse(file.bytes(), path));
  TRY(Bert bert, Bert::load(config.bert, config.pooling, tensors));
  const std::string sha256 = sha256_hex(file.bytes());
  if (!config.manifest.sha256.empty() && sha256 != config.manifest.sha256) {
    return fail(ErrorCode::kInternal,
                fmt::format("{}: its SHA-256 is {}, hengshi.json says {}; run scripts/setup to write it again", path,
                            sha256, config.manifest.sha256),
                path);
  }
  if (config.manifest.sha256.empty()) {
    log(LogLevel::kWarn, "model_unchecked",
        {{"folder", folder},
         {"sha256", sha256},
         {"why", "no hengshi.json there says which SHA-256 the weights must have"}});
  }
  return std::make_unique<const BertEncoder>(std::move(config), sha256.substr(0, kVersionDigits), std::move(tokenizer),
                                             std::move(bert), kernels(level));
}

}  // namespace hengshi::nn
