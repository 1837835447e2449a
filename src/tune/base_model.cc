#include "tune/base_model.h"

#include <algorithm>
#include <array>

namespace hengshi::tune {

Result<BaseModel> BaseModel::open(const std::string& folder) {
  TRY(nn::ModelConfig config, nn::read_model_config(folder));
  const std::string path = folder + "/model.safetensors";
  TRY(nn::MappedFile file, nn::MappedFile::open(path));
  TRY(nn::Safetensors tensors, nn::Safetensors::parse(file.bytes(), path));
  BaseModel out(folder, std::move(config), std::move(file), std::move(tensors));
  const nn::BertConfig& c = out.config_.bert;
  out.prefix_ = out.tensors_.has("bert.embeddings.word_embeddings.weight") ? "bert." : "";
  const auto table = [&](const char* name, size_t rows) {
    return out.tensors_.tensor(out.prefix_ + "embeddings." + name + ".weight", std::array{rows, c.hidden});
  };
  TRY(out.words_, table("word_embeddings", c.vocabulary));
  TRY(out.types_, table("token_type_embeddings", c.types));
  TRY(out.positions_, table("position_embeddings", c.positions));
  return out;
}

Result<std::vector<float>> BaseModel::parameters(const Layout& layout) const {
  std::vector<float> out(layout.encoder_size);
  for (const Slot& slot : layout.slots) {
    if (slot.offset >= layout.encoder_size) continue;
    TRY(const auto values, tensors_.tensor(prefix_ + slot.name, slot.shape));
    std::copy(values.begin(), values.end(), out.begin() + static_cast<long>(slot.offset));
  }
  return out;
}

}  // namespace hengshi::tune
