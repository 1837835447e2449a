#include "train/folds.h"

#include <map>
#include <string_view>

#include "train/rng.h"

namespace hengshi::train {

std::vector<size_t> make_folds(std::span<const std::string> normalised, std::span<const uint32_t> labels, size_t folds,
                               uint64_t seed) {
  std::map<std::string_view, std::vector<size_t>> by_text;
  for (size_t i = 0; i < labels.size(); ++i) by_text[normalised[i]].push_back(i);
  std::map<uint32_t, std::vector<const std::vector<size_t>*>> by_label;
  for (const auto& [text, members] : by_text) by_label[labels[members.front()]].push_back(&members);
  std::vector<size_t> out(labels.size());
  Rng rng(seed);
  size_t next = 0;  // runs on over the labels, so that small ones do not all begin in fold 0
  for (auto& [label, groups] : by_label) {
    rng.shuffle(groups);
    for (const auto* members : groups) {
      for (const size_t i : *members) out[i] = next % folds;
      ++next;
    }
  }
  return out;
}

}  // namespace hengshi::train
