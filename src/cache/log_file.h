// log_file.h — the cache's append-only file: appended in batches, synced, rewritten when most of it is garbage.
//
// Errors:  open() says what to do about a directory in use, unusable, or of another version; a corrupt header sets the
//          file aside. append() and rewrite() say false when the disk did not take it; the file then reads as before.
// Threads: one.
// Source:  docs/decisions/0004-cache.md.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "cache/record.h"

namespace hengshi::cache {

class LogFile {
 public:
  struct Opened {
    std::unique_ptr<LogFile> file;
    size_t skipped = 0;
  };
  static Result<Opened> open(const std::string& directory, const OnRecord& on_record);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  bool append(std::string_view records);
  // `next` appends some records to a buffer and says whether there are more.
  bool rewrite(const std::function<bool(std::string& out, uint64_t seed)>& next);
  uint64_t seed() const { return seed_; }
  size_t size() const { return end_; }

 private:
  LogFile(std::string directory, int lock) : directory_(std::move(directory)), lock_(lock) {}
  Result<size_t> load(const OnRecord& on_record);
  Result<void> start_empty();
  std::string path() const { return directory_ + "/cache.log"; }

  std::string directory_;
  int lock_;  // held as long as the file is open, so that two processes never share it
  int file_ = -1;
  size_t end_ = 0;
  uint64_t seed_ = 0;
};

}  // namespace hengshi::cache
