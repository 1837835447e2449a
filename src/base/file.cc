#include "base/file.h"

#include <filesystem>
#include <fstream>

namespace hengshi {

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

}  // namespace hengshi
