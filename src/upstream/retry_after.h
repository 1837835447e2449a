// retry_after.h — reads a Retry-After header: seconds, or one of HTTP's three date forms.
//
// Units:   whole seconds from `now`, rounded up, 1 … 86,400; 0 when the header is absent or unreadable.
// Threads: a free function.
// Source:  RFC 9110, 10.2.3 and 5.6.7.
#pragma once

#include <string_view>

#include "base/clock.h"

namespace hengshi::upstream {

int retry_after_s(std::string_view header, Wall now);

}  // namespace hengshi::upstream
