#include "tune/write_model.h"

#include <fmt/ranges.h>

#include <deque>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/digest.h"
#include "base/file.h"
#include "base/log.h"
#include "nn/packing.h"

namespace hengshi::tune {

namespace {

// Collects tensors in the order they are added; the header can only be written once their places are known.
class Tensors {
 public:
  void add(const std::string& name, const std::vector<size_t>& shape, std::span<const float> values) {
    put(name, "F32", shape, {reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }

  void add_quantised(const std::string& name, const std::vector<size_t>& shape, std::span<const float> values) {
    auto& bytes = bytes_.emplace_back(values.size());
    auto& scales = scales_.emplace_back(shape[0]);
    const size_t width = shape[1];
    for (size_t row = 0; row < shape[0]; ++row) {
      scales[row] =
          nn::quantise_weights(values.subspan(row * width, width), std::span(bytes).subspan(row * width, width));
    }
    put(name, "I8", shape, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    add(name + ".scale", {shape[0]}, scales);
  }

  std::vector<std::string_view> pieces() {
    header_ += "}";
    header_.append((8 - header_.size() % 8) % 8, ' ');
    const uint64_t size = header_.size() - sizeof(uint64_t);
    for (size_t i = 0; i < sizeof size; ++i) header_[i] = static_cast<char>(size >> (8 * i) & 0xFF);
    std::vector<std::string_view> out = {header_};
    out.insert(out.end(), data_.begin(), data_.end());
    return out;
  }

 private:
  void put(const std::string& name, const char* type, const std::vector<size_t>& shape, std::string_view bytes) {
    if (!data_.empty()) header_ += ",";
    header_ += fmt::format(R"("{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", name, type,
                           fmt::join(shape, ","), at_, at_ + bytes.size());
    at_ += bytes.size();
    data_.push_back(bytes);
  }

  std::string header_ = std::string(8, '\0') + "{";
  std::vector<std::string_view> data_;
  std::deque<std::vector<int8_t>> bytes_;
  std::deque<std::vector<float>> scales_;
  size_t at_ = 0;
};

Result<void> copy_file(const std::string& from, const std::string& to, bool optional) {
  std::error_code ignored;
  if (optional && !std::filesystem::exists(from, ignored)) return {};
  TRY(const std::string bytes, read_file(from));
  return write_whole(to, {bytes});
}

std::string manifest_json(const nn::Manifest& base, const std::string& name, const std::string& sha256) {
  std::string out = "{\n  \"name\": ";
  append_json_string(out, name);
  out += ",\n  \"base\": ";
  append_json_string(out, base.name);
  return out + fmt::format(
                   ",\n  \"lowercase\": {},\n  \"max_tokens\": {},\n  \"semantic_threshold\": {},\n  \"sha256\": "
                   "\"{}\"\n}}\n",
                   base.lowercase, base.max_tokens, base.semantic_threshold, sha256);
}

}  // namespace

Result<void> write_model(const BaseModel& base, const Layout& layout, std::span<const float> parameters,
                         const std::string& name, const std::string& folder) {
  const nn::BertConfig& c = base.config().bert;
  std::error_code error;
  std::filesystem::create_directories(folder + "/1_Pooling", error);
  if (error) return fail(ErrorCode::kInternal, fmt::format("{}: {}", folder, error.message()), folder);
  Tensors tensors;
  tensors.add_quantised("embeddings.word_embeddings.weight", {c.vocabulary, c.hidden}, base.words());
  tensors.add("embeddings.position_embeddings.weight", {c.positions, c.hidden}, base.positions());
  tensors.add("embeddings.token_type_embeddings.weight", {c.types, c.hidden}, base.types());
  for (const Slot& slot : layout.slots) {
    if (slot.offset >= layout.encoder_size) continue;
    const auto values = parameters.subspan(slot.offset, slot.size);
    if (slot.shape.size() == 2) {
      tensors.add_quantised(slot.name, slot.shape, values);
    } else {
      tensors.add(slot.name, slot.shape, values);
    }
  }
  for (const auto& [file, optional] :
       {std::pair{"/config.json", false}, {"/tokenizer.json", false}, {"/1_Pooling/config.json", true}}) {
    TRY_OK(copy_file(base.folder() + file, folder + file, optional));
  }
  std::string bytes;
  for (const std::string_view piece : tensors.pieces()) bytes += piece;
  TRY_OK(write_whole(folder + "/hengshi.json", {manifest_json(base.config().manifest, name, sha256_hex(bytes))}));
  return write_whole(folder + "/model.safetensors", {bytes});
}

}  // namespace hengshi::tune
