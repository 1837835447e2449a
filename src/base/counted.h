// counted.h — a number and what there is of it, as a person writes it: "1 row", "2 rows".
//
// Threads: free function.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hengshi {

// Of nouns whose plural takes an s.
inline std::string counted(size_t number, std::string_view noun) {
  return std::to_string(number).append(" ").append(noun).append(number == 1 ? "" : "s");
}

}  // namespace hengshi
