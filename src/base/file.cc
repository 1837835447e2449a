#include "base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace hengshi {

namespace {

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

std::string target_of(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_symlink(path, error)) return path;
  const auto target = std::filesystem::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  std::error_code error;
  // An ifstream opens a folder and throws when it is read.
  if (!std::filesystem::is_regular_file(std::filesystem::status(path, error))) {
    return fail(ErrorCode::kNotFound,
                path + ": " + (std::filesystem::exists(path, error) ? "is no file" : "is not there"), path);
  }
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  const auto size = in ? static_cast<std::streamoff>(in.tellg()) : std::streamoff{-1};
  std::string bytes(size < 0 ? 0 : static_cast<size_t>(size), '\0');
  in.seekg(0);
  if (size < 0 || !in.read(bytes.data(), size)) return fail(ErrorCode::kNotFound, path + ": cannot be read", path);
  return bytes;
}

Result<void> write_whole(const std::string& path, const std::vector<std::string_view>& pieces) {
  const std::string target = target_of(path);
  struct stat before = {};
  const bool there = ::stat(target.c_str(), &before) == 0;
  const bool aside = !there || S_ISREG(before.st_mode);  // to rename over a device would be the end of it
  const std::string to = aside ? target + ".part" : target;
  const int file = ::open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool good = file >= 0 && (!aside || !there || ::fchmod(file, before.st_mode & 07777) == 0);
  for (const std::string_view piece : pieces) good = good && write_all(file, piece);
  good = good && (!aside || ::fsync(file) == 0);
  int why = good ? 0 : errno;
  if (file >= 0) ::close(file);
  if (good && aside && std::rename(to.c_str(), target.c_str()) != 0) why = errno;
  if (why == 0) return {};
  if (aside) ::unlink(to.c_str());
  return fail(ErrorCode::kInternal, fmt::format("{}: cannot be written: {}", path, std::strerror(why)), path);
}

}  // namespace hengshi
