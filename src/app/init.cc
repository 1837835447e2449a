#include "app/init.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "app/complain.h"
#include "app/left_off.h"
#include "base/file.h"
#include "train/embed.h"

namespace hengshi::app {

namespace {

namespace fs = std::filesystem;

bool there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

std::vector<std::string> trained_packs(const fs::path& artifacts) {
  std::vector<std::string> out;
  std::error_code error;
  for (fs::directory_iterator it(artifacts, error), end; !error && it != end; it.increment(error)) {
    const bool trained = std::any_of(text::kLanguages.begin(), text::kLanguages.end(), [&](text::Language language) {
      return there(it->path() / text::language_name(language) / "manifest.json");
    });
    if (trained) out.push_back(it->path().filename().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

void print_found(std::string_view section, const PathsConfig& paths) {
  for (const text::Language language : text::kLanguages) {
    const std::string& path = paths.of(language);
    if (!path.empty()) fmt::print("  [{}] {} = \"{}\"\n", section, text::language_name(language), path);
  }
}

}  // namespace

Found find_parts(const std::string& folder) {
  Found out;
  out.packs = trained_packs(fs::path(folder) / "artifacts");
  for (const text::Language language : text::kLanguages) {
    std::string encoder = train::encoder_folder({}, "models", language);
    if (!there(fs::path(folder) / encoder / "model.safetensors")) continue;
    out.models.of(language) = std::move(encoder);
    if (out.packs.size() != 1) continue;
    std::string artifact = fmt::format("artifacts/{}/{}", out.packs.front(), text::language_name(language));
    if (there(fs::path(folder) / artifact / "manifest.json")) out.light.of(language) = std::move(artifact);
  }
  return out;
}

int init(const std::string& file) {
  if (there(file)) {
    return complain({ErrorCode::kInvalidRequest, fmt::format("{}: is there already; nothing was changed", file)});
  }
  const Found found = find_parts(fs::path(file).parent_path().string());
  const std::string text = commented_config(found.models, found.light);
  const auto config = parse_config(text, file);
  if (!config) return complain(config.error());
  if (auto done = write_whole(file, {text}); !done) return complain(done.error());
  fmt::print("{} written: every key with its default, and what lies beside it.\n", file);
  print_found("models", found.models);
  print_found("light", found.light);
  if (found.packs.size() > 1) {
    fmt::print("  artifacts/ holds models of {}: name one of them under [light].\n", fmt::join(found.packs, ", "));
  }
  fmt::print("Still off, and what turns it on:\n");
  for (const std::string& line : left_off(*config)) fmt::print("  {}\n", line);
  fmt::print("Next: edit it, see with `hengshi check` that it is good, then `hengshi serve`.\n");
  return 0;
}

}  // namespace hengshi::app
