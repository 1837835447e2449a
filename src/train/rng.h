// rng.h — random numbers that are the same on every machine and library for the same seed.
//
// Threads: one per thread.
// Source:  splitmix64 (Steele, Lea, Flood 2014).
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace hengshi::train {

class Rng {
 public:
  explicit Rng(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  float uniform() { return static_cast<float>(next() >> 40) * 0x1p-24F; }  // [0, 1)
  size_t below(size_t n) { return static_cast<size_t>(next() % n); }
  float normal() {  // the sum of twelve uniforms: close enough for starting weights
    float sum = -6;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return sum;
  }
  template <typename T>
  void shuffle(std::vector<T>& values) {
    for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace hengshi::train
