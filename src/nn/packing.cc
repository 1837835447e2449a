#include "nn/packing.h"

#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"

namespace hengshi::nn {

namespace {

constexpr size_t kLine = 64;
constexpr size_t kHugePage = 2U << 20;
constexpr uint8_t kWeightZero = 128;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

// Weights that came from a 7-bit file lie on a grid of 64 steps each side: kept as they are, they lose nothing.
bool lies_on_grid(std::span<const float> row, float step) {
  return std::all_of(row.begin(), row.end(), [step](float w) {
    const float steps = w / step;
    return std::abs(steps - std::nearbyint(steps)) < 1e-3F;
  });
}

}  // namespace

WeightArena::WeightArena(size_t bytes) : size_(round_up(bytes, kHugePage)) {
  void* const data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(data != MAP_FAILED, "there is memory for the model's weights");
  ::madvise(data, size_, MADV_HUGEPAGE);
  data_ = static_cast<uint8_t*>(data);
}

WeightArena::WeightArena(WeightArena&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(other.size_), used_(other.used_) {}

WeightArena& WeightArena::operator=(WeightArena&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(used_, other.used_);
  return *this;
}

WeightArena::~WeightArena() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

void* WeightArena::take_bytes(size_t bytes) {
  const size_t needed = round_up(bytes, kLine);
  CHECK(needed <= size_ - used_, "the arena was sized for the whole model");
  uint8_t* const at = data_ + used_;
  used_ += needed;
  return at;
}

size_t arena_bytes(size_t count, size_t element) { return round_up(count * element, kLine); }

size_t packed_linear_bytes(size_t in, size_t out) {
  return arena_bytes((in + kOutliers) * out, 1) + arena_bytes(kOutliers, sizeof(uint16_t)) +
         3 * arena_bytes(out, sizeof(float));
}

std::array<uint16_t, kOutliers> find_outliers(std::span<const float> layer_norm_bias) {
  std::vector<uint16_t> order(layer_norm_bias.size());
  std::iota(order.begin(), order.end(), uint16_t{0});
  std::partial_sort(order.begin(), order.begin() + kOutliers, order.end(), [&](uint16_t a, uint16_t b) {
    return std::abs(layer_norm_bias[a]) > std::abs(layer_norm_bias[b]);
  });
  std::array<uint16_t, kOutliers> out;
  std::copy_n(order.begin(), kOutliers, out.begin());
  std::sort(out.begin(), out.end());
  return out;
}

float quantise_weights(std::span<const float> row, std::span<int8_t> out) {
  float largest = 0;
  for (const float w : row) largest = std::max(largest, std::abs(w));
  if (largest == 0) {
    std::fill(out.begin(), out.end(), int8_t{0});
    return 1;
  }
  const float step = lies_on_grid(row, largest / 64) ? largest / 64 : largest / 127;
  for (size_t i = 0; i < row.size(); ++i) out[i] = static_cast<int8_t>(std::nearbyint(row[i] / step));
  return step;
}

PackedLinear pack_linear(std::span<const LinearPart> parts, size_t in, std::span<const uint16_t> outliers,
                         WeightArena& arena) {
  PackedLinear layer;
  layer.in = in;
  for (const LinearPart& part : parts) layer.out += part.bias.size();
  const auto kept = arena.take<uint16_t>(outliers.size());
  std::copy(outliers.begin(), outliers.end(), kept.begin());
  layer.outliers = kept;
  const auto weights = arena.take<uint8_t>(layer.packed_in() * layer.out);
  const auto scale = arena.take<float>(layer.out);
  const auto scaled_sum = arena.take<float>(layer.out);
  const auto bias = arena.take<float>(layer.out);

  std::vector<int8_t> row(in);
  size_t column = 0;
  for (const LinearPart& part : parts) {
    for (size_t n = 0; n < part.bias.size(); ++n, ++column) {
      scale[column] = part.factor * quantise_weights(part.weight.subspan(n * in, in), row);
      scaled_sum[column] = scale[column] * static_cast<float>(std::accumulate(row.begin(), row.end(), 0));
      bias[column] = part.factor * part.bias[n];
      uint8_t* const panel = weights.data() + column / kPanel * layer.packed_in() * kPanel + column % kPanel * 4;
      const auto put = [panel](size_t k, int8_t w) {
        panel[k / 4 * 4 * kPanel + k % 4] = static_cast<uint8_t>(w + kWeightZero);
      };
      for (size_t i = 0; i < outliers.size(); ++i) put(i, row[outliers[i]]);
      for (size_t k = 0; k < in; ++k) put(outliers.size() + k, row[k]);
    }
  }
  layer.weights = weights.data();
  layer.scale = scale.data();
  layer.scaled_sum = scaled_sum.data();
  layer.bias = bias.data();
  return layer;
}

}  // namespace hengshi::nn
