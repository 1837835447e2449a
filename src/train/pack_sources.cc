#include "train/pack_sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hengshi::train {

namespace {

constexpr size_t kFirst = 5;

}  // namespace

void LeftOut::add(uint32_t place) {
  ++count_;
  if (first_.size() < kFirst) first_.push_back(place);
}

void LeftOut::note(std::string_view what, std::string_view place, std::vector<std::string>& notes) const {
  if (count_ == 0) return;
  notes.push_back(fmt::format("left out: {} ({}: {}{} {}{})", what, count_, place, count_ == 1 ? "" : "s",
                              fmt::join(first_, ", "), count_ > first_.size() ? ", …" : ""));
}

}  // namespace hengshi::train
