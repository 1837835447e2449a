// build_snapshot.h — a checked config made into what the gateway serves from.
//
// Errors:  kInvalidRequest / kNotFound naming the config key, the file and the fix; nothing half-built is returned.
// Threads: called by one thread at a time.
#pragma once

#include "app/config.h"
#include "base/metrics.h"
#include "gateway/snapshot.h"

namespace hengshi::app {

// `previous` may be null; encoders and upstreams that did not change are taken over from it.
Result<gateway::SnapshotPtr> build_snapshot(const Config& config, const gateway::Snapshot* previous, Metrics& metrics);

// The same snapshot with the light models as their folders have them now.
Result<gateway::SnapshotPtr> with_light(const gateway::Snapshot& snapshot, const Config& config);

// The same snapshot with the rules as the file has them now.
Result<gateway::SnapshotPtr> with_rules(const gateway::Snapshot& snapshot, const std::string& rules_file);

}  // namespace hengshi::app
