#include "train/pack_write.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace hengshi::train {

namespace {

namespace fs = std::filesystem;

constexpr size_t kFilePerIntent = 200, kIntentsPerFile = 100;

// A basic string of TOML.
void append_string(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\u{:04X}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
}

void append_list(std::string& out, std::string_view key, const std::vector<Located>& texts) {
  out += fmt::format("{} = [\n", key);
  for (const Located& one : texts) {
    out += "  ";
    append_string(out, one.text);
    out += ",\n";
  }
  out += "]\n";
}

void append_intent(std::string& out, const PackIntent& intent) {
  out += fmt::format("[[intent]]\nname = \"{}\"\n", intent.name.text);
  for (const auto& [language, side] : intent.sides) {
    out += fmt::format("[intent.{}]\n", text::language_name(language));
    append_list(out, "phrasings", side.phrasings);
    append_list(out, "answers", side.answers);
  }
}

std::vector<PackFile> files_of(const Pack& pack) {
  std::string main = "name = ";
  append_string(main, pack.name);
  main += "\ndescription = ";
  append_string(main, pack.description);
  main += "\nlanguages = [";
  for (const text::Language language : pack.languages) {
    main += fmt::format("{}\"{}\"", language == pack.languages.front() ? "" : ", ", text::language_name(language));
  }
  std::vector<PackFile> out = {{"pack.toml", main + "]\n"}};
  const size_t per_file = pack.intents.size() <= kFilePerIntent ? 1 : kIntentsPerFile;
  for (size_t from = 0; from < pack.intents.size(); from += per_file) {
    const size_t to = std::min(from + per_file, pack.intents.size());
    std::string bytes;
    for (size_t i = from; i < to; ++i) {
      if (i > from) bytes += '\n';
      append_intent(bytes, pack.intents[i]);
    }
    const std::string name =
        per_file == 1 ? pack.intents[from].name.text : fmt::format("part_{:04}", from / per_file + 1);
    out.push_back({fmt::format("intents/{}.toml", name), std::move(bytes)});
  }
  std::string negatives;
  for (const auto& [language, texts] : pack.negatives) {
    negatives += fmt::format("[{}]\n", text::language_name(language));
    append_list(negatives, "phrasings", texts);
  }
  if (!negatives.empty()) out.push_back({"negatives/near_misses.toml", std::move(negatives)});
  return out;
}

tl::unexpected<Error> unwritable(const fs::path& path, const std::string& why) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("{}: {}", path.string(), why), path.string());
}

Result<void> write_files(const std::vector<PackFile>& files, const fs::path& folder) {
  std::error_code error;
  for (const char* inner : {"intents", "negatives"}) {
    fs::create_directories(folder / inner, error);
    if (error) return unwritable(folder, error.message());
  }
  for (const PackFile& file : files) {
    std::ofstream out(folder / file.name, std::ios::binary);
    out << file.bytes;
    out.close();
    if (!out) return unwritable(folder / file.name, "cannot be written");
  }
  return {};
}

}  // namespace

Result<void> write_pack(const Pack& pack, const std::string& folder) {
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_empty(folder, error)) {
    return unwritable(folder, "is there already; name a new folder");
  }
  const fs::path aside = folder + ".new." + std::to_string(::getpid());
  Result<void> written = write_files(files_of(pack), aside);
  if (written) {
    fs::rename(aside, folder, error);
    if (error) written = unwritable(folder, error.message());
  }
  fs::remove_all(aside, error);
  return written;
}

}  // namespace hengshi::train
