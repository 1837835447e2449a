// pack_write.h — a pack as a folder that a person goes on editing. Slots are not written: no import brings any.
//
// Shapes:  a file per intent, or per hundred of them where there are more than two hundred.
// Errors:  a folder that is there and not empty, or cannot be written; nothing is left behind then.
// Threads: one writer per folder.
// Source:  docs/pack.md.
#pragma once

#include <string>

#include "base/result.h"
#include "train/pack.h"

namespace hengshi::train {

Result<void> write_pack(const Pack& pack, const std::string& folder);

}  // namespace hengshi::train
