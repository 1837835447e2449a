#include "cache/log_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "base/log.h"

namespace hengshi::cache {

namespace {

constexpr const char* kFix =
    "make it writable, or set [cache] directory to another folder, or to \"\" to keep the cache in memory only";
constexpr size_t kChunk = size_t{1} << 20;
constexpr int kMode = 0600;

tl::unexpected<Error> fail_errno(std::string_view what, const std::string& path) {
  return fail(ErrorCode::kInternal, fmt::format("cannot {} {}: {}; {}", what, path, std::strerror(errno), kFix), path);
}

bool write_at(int file, std::string_view bytes, size_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
    offset += static_cast<size_t>(n);
  }
  return true;
}

uint64_t random_seed() {
  std::random_device device;
  return static_cast<uint64_t>(device()) << 32 | device();
}

bool sync_directory(const std::string& directory) {
  const int fd = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool synced = ::fsync(fd) == 0;
  ::close(fd);
  return synced;
}

class Mapping {
 public:
  Mapping(int file, size_t size) : size_(size) {
    if (size == 0) return;
    void* at = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (at != MAP_FAILED) data_ = static_cast<const uint8_t*>(at);
  }
  ~Mapping() {
    if (data_ != nullptr) ::munmap(const_cast<uint8_t*>(data_), size_);
  }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  bool ok() const { return size_ == 0 || data_ != nullptr; }
  std::span<const uint8_t> bytes() const { return {data_, data_ == nullptr ? 0 : size_}; }

 private:
  const uint8_t* data_ = nullptr;
  size_t size_;
};

}  // namespace

LogFile::~LogFile() {
  if (file_ >= 0) ::close(file_);
  ::close(lock_);
}

Result<LogFile::Opened> LogFile::open(const std::string& directory, const OnRecord& on_record) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  const std::string lock_path = directory + "/cache.lock";
  const int lock = ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (lock < 0) return fail_errno("open", lock_path);
  std::unique_ptr<LogFile> file(new LogFile(directory, lock));
  if (::flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return fail(ErrorCode::kInternal,
                "another process uses the cache in " + directory + "; stop it, or set another directory", directory);
  }
  TRY(const size_t skipped, file->load(on_record));
  return Opened{std::move(file), skipped};
}

Result<size_t> LogFile::load(const OnRecord& on_record) {
  file_ = ::open(path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode);
  if (file_ < 0) return fail_errno("open", path());
  struct stat status{};
  if (::fstat(file_, &status) != 0) return fail_errno("read", path());
  LogScan scan;
  {
    const Mapping mapping(file_, static_cast<size_t>(status.st_size));
    if (!mapping.ok()) return fail_errno("read", path());
    scan = scan_log(mapping.bytes(), on_record);
  }
  switch (scan.header) {
    case LogHeader::kOtherVersion:
      return fail(ErrorCode::kInternal,
                  fmt::format("{0} is of version {1}, this program reads {2}; move it away: mv {0} {0}.v{1}", path(),
                              scan.version, kLogVersion),
                  path());
    case LogHeader::kEmpty: {
      TRY_OK(start_empty());
      return size_t{0};
    }
    case LogHeader::kCorrupt: {
      if (::rename(path().c_str(), (path() + ".corrupt").c_str()) != 0) return fail_errno("set aside", path());
      log(LogLevel::kWarn, "cache_log_set_aside", {{"file", path() + ".corrupt"}});
      ::close(std::exchange(file_, ::open(path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode)));
      if (file_ < 0) return fail_errno("open", path());
      TRY_OK(start_empty());
      return size_t{1};
    }
    case LogHeader::kGood: break;
  }
  seed_ = scan.seed;
  end_ = scan.good_end;
  if (::ftruncate(file_, static_cast<off_t>(end_)) != 0) return fail_errno("cut the torn end of", path());
  return scan.skipped;
}

Result<void> LogFile::start_empty() {
  seed_ = random_seed();
  const std::string header = log_header(seed_);
  if (!write_at(file_, header, 0) || ::fdatasync(file_) != 0 || !sync_directory(directory_)) {
    return fail_errno("write", path());
  }
  end_ = header.size();
  return {};
}

bool LogFile::append(std::string_view records) {
  if (write_at(file_, records, end_) && ::fdatasync(file_) == 0) {
    end_ += records.size();
    return true;
  }
  // What was half written is overwritten by the next batch; it is cut so that a crash before that leaves no torn end.
  if (::ftruncate(file_, static_cast<off_t>(end_)) != 0) log(LogLevel::kWarn, "cache_log_torn", {{"file", path()}});
  return false;
}

bool LogFile::rewrite(const std::function<bool(std::string&, uint64_t)>& next) {
  const std::string aside = path() + ".new";
  const int file = ::open(aside.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kMode);
  if (file < 0) return false;
  const uint64_t seed = random_seed();
  std::string buffer = log_header(seed);
  size_t end = 0;
  bool more = true, written = true;
  while (more && written) {
    more = next(buffer, seed);
    if (more && buffer.size() < kChunk) continue;
    written = write_at(file, buffer, end);
    end += buffer.size();
    buffer.clear();
  }
  if (!written || ::fdatasync(file) != 0 || ::rename(aside.c_str(), path().c_str()) != 0) {
    ::close(file);
    ::unlink(aside.c_str());
    return false;
  }
  sync_directory(directory_);
  ::close(std::exchange(file_, file));
  end_ = end;
  seed_ = seed;
  return true;
}

}  // namespace hengshi::cache
