// packing.h — fp32 weights to int8 in the layout of the kernels.
//
// Shapes:  weight f32[out, in], row-major; packed as kernels.h says.
// Errors:  none: sizes were checked when the tensors were read.
// Threads: one thread packs; what it made is then only read.
// Source:  docs/decisions/0003-encoder.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "nn/kernels.h"

namespace hengshi::nn {

// Memory on huge pages where the system has them: weights are streamed once per text, and page walks would show.
class WeightArena {
 public:
  explicit WeightArena(size_t bytes);
  WeightArena(WeightArena&& other) noexcept;
  WeightArena& operator=(WeightArena&& other) noexcept;
  WeightArena(const WeightArena&) = delete;
  WeightArena& operator=(const WeightArena&) = delete;
  ~WeightArena();

  // Aligned to 64 bytes, zeroed. Asking for more than was reserved is a CHECK.
  template <typename T>
  std::span<T> take(size_t count) {
    return {static_cast<T*>(take_bytes(count * sizeof(T))), count};
  }
  size_t size() const { return size_; }

 private:
  void* take_bytes(size_t bytes);
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t used_ = 0;
};

// One checkpoint tensor that becomes part of a layer's columns; `factor` is folded into it.
struct LinearPart {
  std::span<const float> weight;
  std::span<const float> bias;
  float factor = 1;
};

size_t arena_bytes(size_t count, size_t element);
size_t packed_linear_bytes(size_t in, size_t out);

// The kOutliers inputs whose LayerNorm bias is largest: there activations reach far past the rest.
std::array<uint16_t, kOutliers> find_outliers(std::span<const float> layer_norm_bias);

PackedLinear pack_linear(std::span<const LinearPart> parts, size_t in, std::span<const uint16_t> outliers,
                         WeightArena& arena);

// One row to int8; answers its scale.
float quantise_weights(std::span<const float> row, std::span<int8_t> out);

}  // namespace hengshi::nn
