// guards.h — facts two questions must share before one's answer may serve the other.
//
// Errors:  none.
// Threads: free functions, any thread.
// Source:  docs/decisions/0005-guards.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/direction.h"

namespace hengshi::text {

struct GuardFacts {
  std::vector<std::string> numbers;   // canonical value with unit, in order: "300", "5kg", "3:30"; 三百 = 300
  int negations = 0;                  // 不/没/别/无法…, not/n't/never/without…
  std::vector<std::string> polar;     // members of antonym pairs in order: 开启 → "+switch", 关闭 → "-switch"
  std::vector<Direction> directions;  // 西安到重庆, word to pdf
  size_t characters = 0;              // of the normal form
};

GuardFacts guard_facts(std::string_view normalised);

// Empty when a's answer may serve b; else the guard that refused: "number", "negation", "antonym", "direction",
// "length".
std::string_view refuse(const GuardFacts& a, const GuardFacts& b);

}  // namespace hengshi::text
