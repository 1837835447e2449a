#include "tune/low_rank.h"

#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "tune/dice.h"

namespace hengshi::tune {

namespace {

constexpr float kScale = 2;  // of the product, as if the rate of the thin matrices were higher

void multiply(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, size_t m, size_t n, size_t k, const float* a, const float* b,
              float beta, float* c) {
  const auto i = [](size_t x) { return static_cast<blasint>(x); };
  cblas_sgemm(CblasRowMajor, ta, tb, i(m), i(n), i(k), kScale, a, i(ta == CblasNoTrans ? k : m), b,
              i(tb == CblasNoTrans ? n : k), beta, c, i(n));
}

}  // namespace

LowRank::LowRank(const Layout& whole, size_t rank, std::vector<float> start) : rank_(rank), start_(std::move(start)) {
  thin_.layers.resize(whole.layers.size());  // depths are counted from the top
  for (const Slot& slot : whole.slots) {
    if (slot.shape.size() == 2 && slot.offset < whole.encoder_size) {
      const size_t down = thin_.add(slot.name + ".down", {rank, slot.shape[1]}, true, slot.depth);
      const size_t up = thin_.add(slot.name + ".up", {slot.shape[0], rank}, true, slot.depth);
      matrices_.push_back({slot.offset, down, up, slot.shape[0], slot.shape[1]});
    } else {
      same_.push_back({slot.offset, thin_.add(slot.name, slot.shape, slot.decayed, slot.depth), slot.size});
    }
  }
}

std::vector<float> LowRank::start(uint64_t seed) const {
  std::vector<float> thin(thin_.size);
  for (const Same& one : same_) std::copy_n(&start_[one.whole], one.size, &thin[one.thin]);
  for (const Matrix& one : matrices_) {  // `up` is zero: at first nothing is changed
    const float spread = 1.0F / std::sqrt(static_cast<float>(one.in));
    for (size_t i = 0; i < rank_ * one.in; ++i) thin[one.down + i] = spread * roll_normal(roll(seed, one.down), i);
  }
  return thin;
}

void LowRank::expand(std::span<const float> thin, std::span<float> whole) const {
  for (const Same& one : same_) std::copy_n(&thin[one.thin], one.size, &whole[one.whole]);
  for (const Matrix& one : matrices_) {
    std::copy_n(&start_[one.whole], one.out * one.in, &whole[one.whole]);
    multiply(CblasNoTrans, CblasNoTrans, one.out, one.in, rank_, &thin[one.up], &thin[one.down], 1, &whole[one.whole]);
  }
}

void LowRank::carry_over(std::span<const float> thin, std::span<const float> whole_gradient,
                         std::span<float> thin_gradient) const {
  for (const Same& one : same_) std::copy_n(&whole_gradient[one.whole], one.size, &thin_gradient[one.thin]);
  for (const Matrix& one : matrices_) {
    const float* const g = &whole_gradient[one.whole];
    multiply(CblasTrans, CblasNoTrans, rank_, one.in, one.out, &thin[one.up], g, 0, &thin_gradient[one.down]);
    multiply(CblasNoTrans, CblasTrans, one.out, rank_, one.in, g, &thin[one.down], 0, &thin_gradient[one.up]);
  }
}

}  // namespace hengshi::tune
