#include "light/artifact.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <simdjson.h>
#include <stdio.h>  // renameat2
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <utility>

#include "base/digest.h"
#include "base/file.h"
#include "base/log.h"
#include "light/history.h"

namespace hengshi::light {

namespace {

namespace fs = std::filesystem;

constexpr int64_t kFormat = 3;
constexpr const char* kManifest = "manifest.json";
constexpr const char* kWeights = "weights.bin";
constexpr const char* kAnswers = "answers.json";
constexpr const char* kOwnWeights = "encoder/model.safetensors";
constexpr size_t kVersionDigits = 12;
constexpr const char* kFix = "train it again with `hengshi train`";

tl::unexpected<Error> refuse(const std::string& file, std::string_view why) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("{}: {}; {}", file, why, kFix), file);
}

Result<std::string> read_part(const std::string& path) {
  auto bytes = read_file(path);
  if (!bytes) return fail(ErrorCode::kNotFound, fmt::format("{}; {}", bytes.error().message, kFix), path);
  return bytes;
}

// A folder that is none of a light model: what it lacks, what was expected, and those below it that are one.
tl::unexpected<Error> no_artifact(const std::string& folder) {
  std::error_code error;
  const char* lacks = !fs::exists(folder, error)         ? "is not there"
                      : !fs::is_directory(folder, error) ? "is no folder"
                                                         : "holds no manifest.json";
  std::string below;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (!fs::exists(entry.path() / kManifest, error)) continue;
    below += (below.empty() ? "; there is " : ", ") + entry.path().string();
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("{}: {}; expected is the folder of a light model with its manifest.json, such as "
                          "artifacts/<pack>/<language>, which `hengshi train` writes{}",
                          folder, lacks, below),
              folder);
}

Result<std::string> manifest_of(const std::string& folder) {
  const std::string path = folder + "/" + kManifest;
  std::error_code error;
  if (!fs::exists(path, error)) return no_artifact(folder);
  return read_part(path);
}

// The same pack, encoder and seed give the same version, whenever it is written.
std::string version_of(std::string manifest) {
  constexpr std::string_view kCreated = "\"created\": \"";
  if (const size_t at = manifest.find(kCreated); at != std::string::npos) {
    const size_t from = at + kCreated.size();
    manifest.erase(from, manifest.find('"', from) - from);
  }
  return sha256_hex(manifest).substr(0, kVersionDigits);
}

Result<std::string> read_checked(const std::string& folder, const char* name, simdjson::dom::element manifest) {
  const std::string path = folder + "/" + name;
  std::string_view expected;
  if (manifest["files"][name]["sha256"].get(expected) != simdjson::SUCCESS) {
    return refuse(folder + "/" + kManifest, fmt::format("it does not list {}", name));
  }
  TRY(std::string bytes, read_part(path));
  if (sha256_hex(bytes) != expected) return refuse(path, "its SHA-256 is not the manifest's");
  return bytes;
}

Result<Manifest> read_manifest(simdjson::dom::element root, const std::string& path) {
  Manifest out;
  std::string_view pack, language, encoder, encoder_version, created, digest, how;
  int64_t format = 0;
  if (root["format"].get(format) != simdjson::SUCCESS) return refuse(path, "it has no format");
  if (format != kFormat) return refuse(path, fmt::format("format {} is not the {} read here", format, kFormat));
  const bool whole =
      root["pack"].get(pack) == simdjson::SUCCESS && root["language"].get(language) == simdjson::SUCCESS &&
      root["encoder"]["name"].get(encoder) == simdjson::SUCCESS &&
      root["encoder"]["version"].get(encoder_version) == simdjson::SUCCESS &&
      root["created"].get(created) == simdjson::SUCCESS && root["data_digest"].get(digest) == simdjson::SUCCESS &&
      root["seed"].get(out.seed) == simdjson::SUCCESS &&
      root["threshold"]["value"].get(out.threshold.value) == simdjson::SUCCESS &&
      root["threshold"]["floor"].get(out.threshold.floor) == simdjson::SUCCESS &&
      root["threshold"]["aim"].get(out.threshold.aim) == simdjson::SUCCESS &&
      root["threshold"]["how"].get(how) == simdjson::SUCCESS;
  if (!whole) return refuse(path, "a key is missing or of the wrong type");
  // Not said by those written before it could be.
  if (root["threshold"]["calibrated"].get(out.threshold.calibrated) != simdjson::SUCCESS) {
    out.threshold.calibrated = false;
  }
  out.pack = pack;
  out.language = text::language_named(language).value_or(text::Language::kOther);
  out.encoder = encoder;
  out.encoder_version = encoder_version;
  out.created = created;
  out.data_digest = digest;
  out.threshold.how = how;
  out.own_encoder = root["files"].at_key(kOwnWeights).error() == simdjson::SUCCESS;
  simdjson::dom::object metrics;
  if (root["metrics"].get(metrics) != simdjson::SUCCESS) return refuse(path, "it has no metrics");
  for (const auto& [key, value] : metrics) {
    double number = 0;
    if (value.get(number) == simdjson::SUCCESS) out.metrics.emplace_back(key, number);
  }
  return out;
}

void append_text(std::string& out, std::string_view key, std::string_view value) {
  append_json_string(out, key);
  out += ": ";
  append_json_string(out, value);
}

using Files = std::map<std::string, std::string>;  // path inside the folder → bytes

// Every file of the tuned encoder, to lie under encoder/.
Result<void> add_encoder(const std::string& folder, Files& to) {
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (!at->is_regular_file(error)) continue;
    const std::string name = "encoder/" + fs::relative(at->path(), folder, error).string();
    TRY(to[name], read_file(at->path().string()));
  }
  if (!error && to.contains(kOwnWeights)) return {};
  return fail(ErrorCode::kNotFound, fmt::format("{}: it is no model folder", folder), folder);
}

// What the manifest lists under encoder/, as it is on the disk.
Result<void> check_encoder(const std::string& folder, simdjson::dom::element manifest) {
  simdjson::dom::object files;
  if (manifest["files"].get(files) != simdjson::SUCCESS) return {};
  for (const auto& [name, about] : files) {
    if (!name.starts_with("encoder/")) continue;
    if (name.find("..") != name.npos) return refuse(folder + "/" + kManifest, fmt::format("it lists {}", name));
    TRY_OK(read_checked(folder, std::string(name).c_str(), manifest));
  }
  return {};
}

std::string manifest_json(const Manifest& m, const Files& files) {
  std::string out = fmt::format("{{\n  \"format\": {},\n  ", kFormat);
  append_text(out, "pack", m.pack);
  out += ",\n  ";
  append_text(out, "language", text::language_name(m.language));
  out += ",\n  \"encoder\": {";
  append_text(out, "name", m.encoder);
  out += ", ";
  append_text(out, "version", m.encoder_version);
  out += "},\n  ";
  append_text(out, "created", m.created);
  out += ",\n  ";
  append_text(out, "data_digest", m.data_digest);
  out += fmt::format(",\n  \"seed\": {},\n  \"threshold\": {{\"value\": {:.6f}, \"floor\": {:.6f}, \"aim\": {}, ",
                     m.seed, m.threshold.value, m.threshold.floor, m.threshold.aim);
  append_text(out, "how", m.threshold.how);
  out += fmt::format(", \"calibrated\": {}", m.threshold.calibrated);
  out += "},\n  \"metrics\": {";
  for (size_t i = 0; i < m.metrics.size(); ++i) {
    out += i == 0 ? "" : ", ";
    append_json_string(out, m.metrics[i].first);
    out += fmt::format(": {:.4f}", std::isfinite(m.metrics[i].second) ? m.metrics[i].second : 0.0);
  }
  out += "},\n  \"files\": {\n";
  const char* before = "";
  for (const auto& [name, bytes] : files) {
    out += std::exchange(before, ",\n") + std::string("    ");
    append_json_string(out, name);
    out += fmt::format(": {{\"bytes\": {}, \"sha256\": \"{}\"}}", bytes.size(), sha256_hex(bytes));
  }
  return out + "\n  }\n}\n";
}

Result<void> put_in_place(const fs::path& aside, const fs::path& folder) {
  if (::rename(aside.c_str(), folder.c_str()) == 0) return {};  // none there, or an empty folder
  if (::renameat2(AT_FDCWD, aside.c_str(), AT_FDCWD, folder.c_str(), RENAME_EXCHANGE) == 0) return {};
  return fail(ErrorCode::kInternal, fmt::format("{}: {}", folder.string(), std::strerror(errno)), folder.string());
}

// A whole new folder aside, exchanged with the one in use, which is kept.
Result<Written> write_files(std::string folder, const Manifest& manifest, const Files& files) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  const std::string json = manifest_json(manifest, files);
  const std::string version = version_of(json);
  if (const auto before = read_artifact(folder); before && before->version == version) return Written{version, true};
  const fs::path aside = folder + ".new." + std::to_string(::getpid());
  std::error_code error;
  fs::create_directories(aside, error);
  if (error) return fail(ErrorCode::kInternal, fmt::format("{}: {}", aside.string(), error.message()), aside.string());
  const auto write_all = [&]() -> Result<void> {
    for (const auto& [name, bytes] : files) {
      fs::create_directories((aside / name).parent_path(), error);
      TRY_OK(write_whole(aside / name, {bytes}));
    }
    TRY_OK(write_whole(aside / kManifest, {json}));
    return put_in_place(aside, folder);
  };
  Result<void> written = write_all();
  if (written && fs::exists(aside / kManifest, error)) {
    written = keep_artifact(aside.string(), folder);
    // The older one again: it has no other place.
    if (!written && !put_in_place(aside, folder)) return tl::unexpected(written.error());
  }
  fs::remove_all(aside, error);  // what is left of a failure
  if (!written) return tl::unexpected(written.error());
  return Written{version};
}

}  // namespace

Result<Artifact> read_artifact(const std::string& folder) {
  const std::string path = folder + "/" + kManifest;
  TRY(const std::string json, manifest_of(folder));
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(json).get(root) != simdjson::SUCCESS) return refuse(path, "it is not JSON");
  Artifact out;
  TRY(out.manifest, read_manifest(root, path));
  out.version = version_of(json);
  TRY(const std::string weights, read_checked(folder, kWeights, root));
  TRY(const std::string answers, read_checked(folder, kAnswers, root));
  TRY_OK(check_encoder(folder, root));
  auto read = read_weights(weights);
  if (!read) return refuse(folder + "/" + kWeights, read.error().message);
  out.weights = std::move(*read);
  auto book = AnswerBook::parse(answers);
  if (!book) return refuse(folder + "/" + kAnswers, book.error().message);
  out.answers = std::move(*book);
  if (out.answers.size() != out.weights.heads.intents) {
    return refuse(folder + "/" + kAnswers, "it has another number of intents than weights.bin");
  }
  if (out.weights.language != out.manifest.language) return refuse(path, "weights.bin is of another language");
  return out;
}

Result<std::string> artifact_version(const std::string& folder) {
  TRY(std::string manifest, manifest_of(folder));
  return version_of(std::move(manifest));
}

Result<Written> write_artifact(const std::string& folder, const Manifest& manifest, const Weights& weights,
                               const std::vector<IntentAnswers>& answers, const std::string& encoder) {
  Files files = {{kWeights, write_weights(weights)}, {kAnswers, answers_json(answers)}};
  if (!encoder.empty()) TRY_OK(add_encoder(encoder, files));
  return write_files(folder, manifest, files);
}

uint64_t artifact_bytes(const std::string& folder) {
  uint64_t sum = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->is_regular_file(error)) sum += at->file_size(error);
  }
  return sum;
}

Result<Written> write_threshold(const std::string& folder, const Threshold& threshold, const std::string& created) {
  TRY(Artifact artifact, read_artifact(folder));
  artifact.manifest.threshold = threshold;
  artifact.manifest.created = created;
  Files files;
  for (const char* name : {kWeights, kAnswers}) {
    TRY(files[name], read_part(folder + "/" + name));
  }
  if (artifact.manifest.own_encoder) TRY_OK(add_encoder(folder + "/encoder", files));
  return write_files(folder, artifact.manifest, files);
}

}  // namespace hengshi::light
