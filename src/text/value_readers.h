// value_readers.h — the readers behind value.h, each of what begins at one place of a folded text.
//
// Shapes:  `s` = Folded::text; the answer is the byte behind what was read, 0 when nothing of the kind begins there.
// Threads: free functions, any thread.
#pragma once

#include <cstddef>
#include <string_view>

namespace hengshi::text {

size_t read_date(std::string_view s, size_t at);   // 6月18日, 下周五, 三天后, June 18th, next Friday, 2024-06-18
size_t read_time(std::string_view s, size_t at);   // 下午三点半, 15:30, half past three, noon
size_t read_phone(std::string_view s, size_t at);  // 138-1234-5678, 010-62345678, +44 20 7946 0958, 400-810-1234
size_t read_email(std::string_view s, size_t at);

// An order, device or serial number: letters and digits with five digits at least, or what stands behind 单号, "order
// number" and their like.
size_t read_id(std::string_view s, size_t at);

// Where a reader may try again behind `at`: the next character, or behind a word of Latin letters and digits.
size_t step_over(std::string_view s, size_t at);

}  // namespace hengshi::text
