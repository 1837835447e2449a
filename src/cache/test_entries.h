// test_entries.h — entries and embeddings for the tests of this room.
#pragma once

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "cache/cache.h"

namespace hengshi::cache {

inline Entry make_entry(const std::string& question, const std::string& partition = "p", size_t payload = 20) {
  Entry e;
  e.id = digest(partition + "|" + question);
  e.partition = digest(partition);
  e.question = question;
  e.model = "fake";
  e.payload = question + std::string(payload, '.');
  return e;
}

inline std::vector<float> unit(std::vector<float> v) {
  double sum = 0;
  for (const float x : v) sum += static_cast<double>(x) * x;
  for (float& x : v) x = static_cast<float>(x / std::sqrt(sum));
  return v;
}

inline std::vector<float> random_unit(std::mt19937_64& random, size_t dim) {
  std::normal_distribution<float> normal;
  std::vector<float> v(dim);
  for (float& x : v) x = normal(random);
  return unit(v);
}

inline std::vector<float> near(const std::vector<float>& center, std::mt19937_64& random, float noise) {
  std::vector<float> v = random_unit(random, center.size());
  for (size_t i = 0; i < v.size(); ++i) v[i] = center[i] + noise * v[i];
  return unit(v);
}

inline double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * b[i];
  return sum;
}

}  // namespace hengshi::cache
