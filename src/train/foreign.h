// foreign.h — questions of our own writing that belong to no pack: what people ask a big model.
//
// They teach the out-of-scope class of every pack. One that comes too near to a pack's own phrasings is left out.
//
// Shapes:  one question per line.
// Threads: constants.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/text.h"

namespace hengshi::train {

std::string_view foreign_chinese();
std::string_view foreign_english();

std::vector<std::string> foreign_questions(text::Language language);  // other: none

}  // namespace hengshi::train
