// history.h — the artifacts that a folder held before: kept beside it, listed, put back in one step.
//
//   artifacts/demo/zh                      in use
//   artifacts/demo/zh.versions/<version>/  earlier ones, the newest five
//
// Errors:  kNotFound naming the versions there are; a version that does not read as an artifact is never put back.
// Threads: free functions; one writer per folder. A reader of the folder sees the one artifact or the other, whole.
// Source:  docs/decisions/0006-light.md.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "light/light.h"

namespace hengshi::light {

struct KeptArtifact {
  std::string version, folder;
  std::string created;  // UTC, of the manifest
  double accuracy = 0;  // of the manifest, percent
  Threshold threshold;
  bool tuned = false;  // it has an encoder of its own
  bool in_use = false;
};

// The one in use first, then the earlier ones, newest first.
Result<std::vector<KeptArtifact>> list_artifacts(const std::string& folder);

// Moves what `replaced` holds to the earlier ones of `folder`, and forgets the oldest beyond five.
Result<void> keep_artifact(const std::string& replaced, const std::string& folder);

// Puts an earlier version in use and keeps the one it replaces; empty: the newest earlier one. Returns its version.
Result<std::string> restore_artifact(const std::string& folder, std::string_view version);

// The folder that "artifacts/demo/zh" or, pinned, "artifacts/demo/zh@1a2b3c4d5e6f" stands for.
Result<std::string> artifact_folder(const std::string& named);

}  // namespace hengshi::light
