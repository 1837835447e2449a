#include "light/history.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>  // renameat2

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "light/artifact.h"

namespace hengshi::light {

namespace {

namespace fs = std::filesystem;

constexpr size_t kKept = 5;

std::string without_slash(std::string folder) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  return folder;
}

fs::path versions_of(const std::string& folder) { return without_slash(folder) + ".versions"; }

tl::unexpected<Error> cannot(std::string_view what, const fs::path& path, std::string_view why) {
  return fail(ErrorCode::kInternal, fmt::format("{}: cannot {}: {}", path.string(), what, why), path.string());
}

Result<KeptArtifact> describe(const std::string& folder, bool in_use) {
  TRY(const Artifact artifact, read_artifact(folder));
  const Manifest& manifest = artifact.manifest;
  KeptArtifact out{artifact.version, folder, manifest.created, 0, manifest.threshold, manifest.own_encoder, in_use};
  for (const auto& [name, value] : manifest.metrics) {
    if (name == "accuracy") out.accuracy = value;
  }
  return out;
}

// When it was replaced; the order in which artifacts are kept and forgotten.
fs::file_time_type age_of(const fs::path& folder) {
  std::error_code error;
  const auto time = fs::last_write_time(folder / "manifest.json", error);
  return error ? fs::file_time_type::min() : time;
}

// Folders of earlier artifacts, newest first; other things there are left alone.
std::vector<fs::path> earlier(const std::string& folder) {
  std::vector<fs::path> out;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(versions_of(folder), error)) {
    if (entry.is_directory(error) && fs::exists(entry.path() / "manifest.json", error)) out.push_back(entry.path());
  }
  std::ranges::sort(out, [](const fs::path& a, const fs::path& b) { return age_of(a) > age_of(b); });
  return out;
}

tl::unexpected<Error> no_such(const std::string& folder, std::string_view version) {
  if (auto in_use = artifact_version(folder); !in_use) return tl::unexpected(std::move(in_use).error());
  std::string there;
  for (const fs::path& one : earlier(folder)) {
    if (const auto known = artifact_version(one.string())) there += (there.empty() ? "" : ", ") + *known;
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("{}: {}; earlier versions there are: {}", folder,
                          version.empty() ? "it has no earlier version" : fmt::format("it has no version {}", version),
                          there.empty() ? "none" : there),
              folder);
}

Result<std::string> find_version(const std::string& folder, std::string_view version) {
  for (const fs::path& one : earlier(folder)) {
    const auto known = artifact_version(one.string());
    if (known && (version.empty() || *known == version)) return one.string();
  }
  return no_such(folder, version);
}

}  // namespace

Result<std::vector<KeptArtifact>> list_artifacts(const std::string& folder) {
  std::vector<KeptArtifact> out;
  TRY(KeptArtifact current, describe(folder, true));
  out.push_back(std::move(current));
  for (const fs::path& one : earlier(folder)) {
    if (auto kept = describe(one.string(), false)) out.push_back(std::move(*kept));
  }
  return out;
}

Result<void> keep_artifact(const std::string& replaced, const std::string& folder) {
  TRY(const std::string version, artifact_version(replaced));
  const fs::path versions = versions_of(folder), kept = versions / version;
  std::error_code error;
  fs::create_directories(versions, error);
  if (error) return cannot("keep earlier artifacts there", versions, error.message());
  fs::remove_all(kept, error);  // the same artifact, put back and replaced again
  fs::rename(replaced, kept, error);
  if (error) return cannot("keep the earlier artifact there", kept, error.message());
  fs::last_write_time(kept / "manifest.json", fs::file_time_type::clock::now(), error);  // its age counts from here
  if (const auto current = artifact_version(folder)) fs::remove_all(versions / *current, error);  // it is in use again
  const std::vector<fs::path> all = earlier(folder);
  for (size_t i = kKept; i < all.size(); ++i) fs::remove_all(all[i], error);
  return {};
}

Result<std::string> restore_artifact(const std::string& folder, std::string_view version) {
  const std::string place = without_slash(folder);
  TRY(const std::string from, find_version(place, version));
  TRY(const Artifact artifact, read_artifact(from));
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) != 0) {
    return cannot("put the earlier artifact there", place, std::strerror(errno));
  }
  const fs::path aside = from + ".replaced";  // `from` is the name of the version that has just left it
  std::error_code error;
  fs::rename(from, aside, error);
  if (error) return cannot("keep the replaced artifact", aside, error.message());
  TRY_OK(keep_artifact(aside.string(), place));
  return artifact.version;
}

Result<std::string> artifact_folder(const std::string& named) {
  const size_t at = named.rfind('@');
  const bool pinned = at != std::string::npos && named.find('/', at) == std::string::npos;
  if (!pinned) return named;
  std::string folder = without_slash(named.substr(0, at));
  const std::string version = named.substr(at + 1);
  if (const auto current = artifact_version(folder); current && *current == version) return folder;
  return find_version(folder, version);
}

}  // namespace hengshi::light
