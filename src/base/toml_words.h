// toml_words.h — what a TOML parser complains of, in words that say what to do.
//
// Threads: free function.
// Source:  the messages of toml++ 3.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hengshi {

// `description` is the parser's, of the line `line` of `text`. A table or a key that is there already is told with the
// line of the first; anything else stays as it is.
std::string toml_words(std::string_view description, std::string_view text, uint32_t line);

}  // namespace hengshi
