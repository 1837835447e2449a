// safetensors.h — reads a model.safetensors file: named fp32 tensors, memory-mapped, or int8 ones with scales by row.
//
// Shapes:  8 bytes little-endian header length, JSON header {name: {dtype, shape, data_offsets}}, then the data.
//          A matrix may be I8 when "<name>.scale" holds one F32 per row: it reads as the product, which is owned.
// Errors:  open() and parse() refuse what is truncated, overlapping its end, misaligned or no JSON; tensor() refuses a
//          missing name, another shape, another dtype than F32, and values that are not finite. Each names the file.
// Threads: immutable once made; views live as long as the object (or, after parse(), the bytes).
// Source:  the format description in the safetensors repository's README, 0.4.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hengshi::nn {

// A file's bytes, mapped read-only for the life of the object.
class MappedFile {
 public:
  static Result<MappedFile> open(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  ~MappedFile();

  std::string_view bytes() const { return {data_, size_}; }

 private:
  MappedFile() = default;
  const char* data_ = nullptr;
  size_t size_ = 0;
};

class Safetensors {
 public:
  // `file` is only a name for messages; `bytes` must outlive the object and be 4-byte aligned.
  static Result<Safetensors> parse(std::string_view bytes, std::string file);

  // shape: the expected one, outermost first.
  Result<std::span<const float>> tensor(const std::string& name, std::span<const size_t> shape) const;
  bool has(const std::string& name) const { return tensors_.contains(name); }

 private:
  struct Tensor {
    std::string dtype;
    std::vector<size_t> shape;
    std::string_view data;
    std::vector<float> scaled;  // of an I8 matrix
  };
  Result<void> scale_rows(const std::string& name);
  std::string file_;
  std::map<std::string, Tensor, std::less<>> tensors_;
};

}  // namespace hengshi::nn
