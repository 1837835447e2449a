#include "nn/safetensors.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <simdjson.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace hengshi::nn {

namespace {

constexpr size_t kMaxHeader = 16U << 20;

tl::unexpected<Error> broken(const std::string& file, std::string_view why) {
  return fail(ErrorCode::kInternal, fmt::format("{}: {}; run scripts/setup to write it again", file, why), file);
}

// a·b, or no value when it does not fit.
bool multiply(size_t a, size_t b, size_t& out) { return !__builtin_mul_overflow(a, b, &out); }

Result<std::vector<size_t>> read_numbers(simdjson::dom::element value, const std::string& file, std::string_view what) {
  simdjson::dom::array items;
  if (value.get_array().get(items) != simdjson::SUCCESS) return broken(file, fmt::format("{} is no array", what));
  std::vector<size_t> out;
  for (const simdjson::dom::element item : items) {
    uint64_t number = 0;
    if (item.get_uint64().get(number) != simdjson::SUCCESS) {
      return broken(file, fmt::format("{} holds no whole number", what));
    }
    out.push_back(number);
  }
  return out;
}

}  // namespace

Result<MappedFile> MappedFile::open(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return fail(ErrorCode::kInternal, fmt::format("{}: {}; run scripts/setup", path, std::strerror(errno)), path);
  }
  struct stat status = {};
  const bool known = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  MappedFile file;
  file.size_ = known ? static_cast<size_t>(status.st_size) : 0;
  void* const data = file.size_ == 0 ? MAP_FAILED : ::mmap(nullptr, file.size_, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  if (data == MAP_FAILED) return broken(path, "it is empty or cannot be read");
  file.data_ = static_cast<const char*>(data);
  return file;
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<char*>(data_), size_);
}

Result<Safetensors> Safetensors::parse(std::string_view bytes, std::string file) {
  uint64_t header_size = 0;
  if (bytes.size() < sizeof header_size) return broken(file, "it is shorter than its header's length");
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  if (header_size > kMaxHeader || header_size > bytes.size() - sizeof header_size) {
    return broken(file, fmt::format("its header of {} bytes does not fit: truncated, or no safetensors", header_size));
  }
  const std::string_view data = bytes.substr(sizeof header_size + header_size);
  simdjson::dom::parser parser;
  simdjson::dom::object header;
  const auto parsed = parser.parse(simdjson::padded_string(bytes.substr(sizeof header_size, header_size)));
  if (parsed.get_object().get(header) != simdjson::SUCCESS) return broken(file, "its header is no JSON object");

  Safetensors out;
  for (const auto& [key, entry] : header) {
    if (key == "__metadata__") continue;
    const std::string name(key);
    Tensor tensor;
    std::string_view dtype;
    simdjson::dom::element shape;
    simdjson::dom::element range;
    if (entry["dtype"].get_string().get(dtype) != simdjson::SUCCESS || entry["shape"].get(shape) != simdjson::SUCCESS ||
        entry["data_offsets"].get(range) != simdjson::SUCCESS) {
      return broken(file, fmt::format("tensor {} lacks dtype, shape or data_offsets", name));
    }
    tensor.dtype = dtype;
    TRY(tensor.shape, read_numbers(shape, file, "shape of " + name));
    TRY(const std::vector<size_t> offsets, read_numbers(range, file, "data_offsets of " + name));
    if (offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size()) {
      return broken(file, fmt::format("tensor {} lies outside the file: truncated?", name));
    }
    tensor.data = data.substr(offsets[0], offsets[1] - offsets[0]);
    out.tensors_.insert_or_assign(name, std::move(tensor));
  }
  out.file_ = std::move(file);
  size_t scaled = 0;  // tensors may share bytes, but not to make the file many times as large in memory
  for (const auto& [name, tensor] : out.tensors_) {
    if (tensor.dtype != "I8") continue;
    scaled += tensor.data.size();
    if (scaled > data.size()) return broken(out.file_, fmt::format("int8 tensor {} overlaps another", name));
    TRY_OK(out.scale_rows(name));
  }
  return out;
}

Result<void> Safetensors::scale_rows(const std::string& name) {
  Tensor& tensor = tensors_.find(name)->second;
  size_t count = 0;
  if (tensor.shape.size() != 2 || !multiply(tensor.shape[0], tensor.shape[1], count) || count != tensor.data.size()) {
    return broken(file_, fmt::format("int8 tensor {} is no matrix of its bytes", name));
  }
  TRY(const auto scales, this->tensor(name + ".scale", std::array{tensor.shape[0]}));
  tensor.scaled.resize(count);
  for (size_t i = 0; i < count; ++i) {
    tensor.scaled[i] = static_cast<float>(static_cast<int8_t>(tensor.data[i])) * scales[i / tensor.shape[1]];
  }
  tensor.dtype = "F32";
  tensor.data = {reinterpret_cast<const char*>(tensor.scaled.data()), count * sizeof(float)};
  return {};
}

Result<std::span<const float>> Safetensors::tensor(const std::string& name, std::span<const size_t> shape) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) return broken(file_, fmt::format("tensor {} is missing", name));
  const Tensor& tensor = found->second;
  if (tensor.dtype != "F32") {
    return fail(ErrorCode::kInternal,
                fmt::format("{}: tensor {} is {}; save the model as float32", file_, name, tensor.dtype), file_);
  }
  if (!std::equal(shape.begin(), shape.end(), tensor.shape.begin(), tensor.shape.end())) {
    return broken(file_, fmt::format("tensor {} has shape [{}], config.json asks for [{}]", name,
                                     fmt::join(tensor.shape, ", "), fmt::join(shape, ", ")));
  }
  size_t bytes = sizeof(float);
  for (const size_t n : shape) {
    if (!multiply(bytes, n, bytes)) return broken(file_, fmt::format("tensor {} is too large", name));
  }
  if (bytes != tensor.data.size()) return broken(file_, fmt::format("tensor {} has the wrong number of bytes", name));
  if (reinterpret_cast<uintptr_t>(tensor.data.data()) % alignof(float) != 0) {
    return broken(file_, fmt::format("tensor {} is not aligned to 4 bytes", name));
  }
  const std::span<const float> values(reinterpret_cast<const float*>(tensor.data.data()), bytes / sizeof(float));
  float poison = 0;  // stays 0 unless a value is infinite or no number
  for (const float value : values) poison += value * 0.0F;
  if (poison != 0.0F) return broken(file_, fmt::format("tensor {} holds a value that is not finite", name));
  return values;
}

}  // namespace hengshi::nn
