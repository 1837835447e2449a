// base_model.h — the model folder that tuning starts from, in fp32.
//
// Shapes:  tensors by the usual BERT names; vectors of the words, positions and token types are never trained.
// Errors:  open() hands on what nn says of the folder.
// Threads: immutable once open.
// Source:  docs/decisions/0009-tuning.md.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "nn/model_config.h"
#include "nn/safetensors.h"
#include "tune/layout.h"

namespace hengshi::tune {

class BaseModel {
 public:
  static Result<BaseModel> open(const std::string& folder);

  const std::string& folder() const { return folder_; }
  const nn::ModelConfig& config() const { return config_; }
  std::span<const float> words() const { return words_; }          // [vocabulary, hidden]
  std::span<const float> positions() const { return positions_; }  // [positions, hidden], as the folder has them
  std::span<const float> types() const { return types_; }          // [types, hidden]

  // The encoder's part of the buffer, as the folder has it.
  Result<std::vector<float>> parameters(const Layout& layout) const;

 private:
  BaseModel(std::string folder, nn::ModelConfig config, nn::MappedFile file, nn::Safetensors tensors)
      : folder_(std::move(folder)), config_(std::move(config)), file_(std::move(file)), tensors_(std::move(tensors)) {}

  std::string folder_;
  nn::ModelConfig config_;
  nn::MappedFile file_;
  nn::Safetensors tensors_;
  std::string prefix_;
  std::span<const float> words_, positions_, types_;
};

}  // namespace hengshi::tune
