// shape.h — what shape a message has that a model of short questions must not answer.
//
// Errors:  none; input is a normal form (see text.h).
// Threads: pure, any thread.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <string_view>

namespace hengshi::text {

// Empty, or why the message goes up: "too_long", "code", "several_questions" (several sentences that ask, or a marker
// such as 顺便 and "and also" between two requests).
std::string_view unfit_shape(std::string_view normalised);

}  // namespace hengshi::text
