// quantity.h — reads a number with its unit, a price or a time of day, in digits, Chinese numerals or English words.
//
// Shapes:  canonical "300", "5kg", "-5°c", "20%", "m3" (March), "3:30". Units are not converted: 5kg and 5000g differ.
// Errors:  what is no quantity reads as nothing; input is a normal form (see text.h).
// Threads: free functions, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hengshi::text {

enum class DayPart { kNone, kMorning, kAfternoon };

struct Quantity {
  std::string canonical;  // empty: a numeral that counts nothing here ("一" in 查一查), to be read past
  size_t end = 0;
  bool time_of_day = false;
  bool duration = false;  // so that 前 or 后 behind it says before or after
  std::string_view unit;  // what canonical ends with, behind the number: "kg", "cny", "%"
  bool plain = false;     // canonical is the number alone: no unit, no date's part, no name such as 3g2
};

// `part` is what stands right before: 下午 makes 三点 15:00.
std::optional<Quantity> read_quantity(std::string_view s, size_t at, DayPart part);

}  // namespace hengshi::text
