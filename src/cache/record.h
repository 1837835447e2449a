// record.h — the bytes of the cache's log: a header, then one record per entry.
//
// Shapes:  header (32 bytes): "HENGSHIC", u32 version, u32 0, u64 seed, u64 xxh64 of the 24 bytes before it.
//          record: u32 marker, u32 body size, u64 xxh64(body, seed ^ body size), body: 16 id, 16 partition,
//          i64 created_s, f32 scale, u32 sizes of question, model, payload, values, then those. Little endian.
// Units:   created_s Unix seconds.
// Errors:  scan_log() is total: what its checksum does not vouch for is skipped and counted, and never handed on.
//          Marker and checksum depend on the file's random seed, so that text within an answer cannot pose as a record.
// Threads: pure functions.
// Source:  docs/decisions/0004-cache.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "base/digest.h"

namespace hengshi::cache {

inline constexpr uint32_t kLogVersion = 1;
inline constexpr size_t kLogHeaderBytes = 32;
inline constexpr size_t kRecordHeaderBytes = 16;
inline constexpr size_t kMaxRecordBytes = size_t{16} << 20;

struct Record {
  Digest id{};
  Digest partition{};
  int64_t created_s = 0;
  std::string_view question, model, payload;
  float scale = 0;
  std::span<const int8_t> values;  // empty: exact only
};

std::string log_header(uint64_t seed);
void append_record(std::string& out, const Record& record, uint64_t seed);
size_t record_bytes(const Record& record);

enum class LogHeader { kGood, kEmpty, kCorrupt, kOtherVersion };

struct LogScan {
  LogHeader header = LogHeader::kEmpty;
  uint32_t version = 0;
  uint64_t seed = 0;
  size_t good_end = 0;  // behind the last good record: what is after it is torn
  size_t skipped = 0;   // stretches of bytes that were no good record
};

// The record's views and its size in the log are valid during the call.
using OnRecord = std::function<void(const Record&, size_t bytes)>;
LogScan scan_log(std::span<const uint8_t> bytes, const OnRecord& on_record);

}  // namespace hengshi::cache
