// dice.h — random numbers by counter: any number of any stream, in any order, without state to save.
//
// Threads: pure.
// Source:  splitmix64's finaliser (Steele, Lea, Flood 2014) over stream and counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace hengshi::tune {

inline uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

inline uint64_t roll(uint64_t stream, uint64_t counter) { return mix(stream + (counter + 1) * 0x9e3779b97f4a7c15ULL); }

inline double roll_uniform(uint64_t stream, uint64_t counter) {  // [0, 1)
  return static_cast<double>(roll(stream, counter) >> 11) * 0x1p-53;
}

inline float roll_normal(uint64_t stream, uint64_t counter) {  // the sum of twelve: close enough for starting weights
  double sum = -6;
  for (uint64_t i = 0; i < 12; ++i) sum += roll_uniform(stream, counter * 12 + i);
  return static_cast<float>(sum);
}

inline void shuffle(std::vector<uint32_t>& values, uint64_t stream) {
  for (size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[roll(stream, i) % i]);
}

}  // namespace hengshi::tune
