// serve.h — the composition root: builds the parts bottom up, runs them, reloads and stops on signals.
//
// Errors:  start-up says what is wrong and how to mend it, before a connection is taken. A bad reload keeps what is
//          there.
// Threads: io loops, compute, cache and ledger writers; signals and file watching on the calling thread.
#pragma once

#include <string>

namespace hengshi::app {

// Returns the exit code: 0 after a drain, 1 when it could not start, 2 for a bad config.
int serve(const std::string& config_file);

}  // namespace hengshi::app
