#include "tune/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace hengshi::tune {

namespace {

bool write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(file, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

Result<void> write_whole(const std::string& path, const std::vector<std::string_view>& pieces) {
  const std::string aside = path + ".part";
  const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  bool good = file >= 0;
  for (const std::string_view piece : pieces) good = good && write_all(file, piece);
  good = good && ::fsync(file) == 0;
  int why = good ? 0 : errno;
  if (file >= 0) ::close(file);
  if (good && std::rename(aside.c_str(), path.c_str()) != 0) why = errno;
  if (why == 0) return {};
  ::unlink(aside.c_str());
  return fail(ErrorCode::kInternal, fmt::format("{}: cannot be written: {}", path, std::strerror(why)), path);
}

}  // namespace hengshi::tune
