// simplify.h — traditional characters to simplified ones, one for one.
//
// Errors:  without the dictionary files every character stays as it is, and the log says so once.
// Threads: the table is built at first use, then read only.
// Source:  OpenCC's t2s dictionary; docs/decisions/0004-cache.md says why by character and not by phrase.
#pragma once

namespace hengshi::text {

char32_t simplify(char32_t c);

}  // namespace hengshi::text
