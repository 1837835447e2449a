// personal.h — tells whether a text seems to hold personal data: such text is never shared beyond its user.
//
// Errors:  errs on the side of "yes": a long order number counts.
// Threads: free function, any thread.
#pragma once

#include <string_view>

namespace hengshi::text {

// An e-mail address, or seven digits or more in a row (spaces and dashes between them allowed): phone, card, id, order.
bool has_personal_data(std::string_view text);

}  // namespace hengshi::text
