// pack_toml.h — the TOML files of a pack, one at a time, added to the pack they belong to.
//
// Errors:  kInvalidRequest "file:line: what is wrong; what to do".
// Threads: values.
// Source:  docs/pack.md.
#pragma once

#include "train/pack.h"

namespace hengshi::train {

Result<void> read_pack_toml(const PackFile& file, Pack& into);
Result<void> read_intents_toml(const PackFile& file, Pack& into);
Result<void> read_negatives_toml(const PackFile& file, Pack& into);

}  // namespace hengshi::train
