#include "cache/record.h"

#include <xxhash.h>

#include <cstring>
#include <optional>
#include <utility>

namespace hengshi::cache {

namespace {

constexpr char kMagic[9] = "HENGSHIC";
constexpr size_t kFixedBytes = 16 + 16 + 8 + 4 + 4 * 4;

template <typename T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Precondition: at + sizeof(T) <= bytes.size().
template <typename T>
T get(std::span<const uint8_t> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

uint32_t marker(uint64_t seed) { return static_cast<uint32_t>(XXH64("record", 6, seed)); }

uint64_t checksum(const void* body, size_t size, uint64_t seed) { return XXH64(body, size, seed ^ size); }

std::optional<Record> parse_body(std::span<const uint8_t> body) {
  if (body.size() < kFixedBytes) return std::nullopt;
  Record r;
  std::memcpy(r.id.data(), body.data(), 16);
  std::memcpy(r.partition.data(), body.data() + 16, 16);
  r.created_s = get<int64_t>(body, 32);
  r.scale = get<float>(body, 40);
  size_t sizes[4], total = kFixedBytes;
  for (size_t i = 0; i < 4; ++i) total += sizes[i] = get<uint32_t>(body, 44 + 4 * i);
  if (total != body.size()) return std::nullopt;
  const char* at = reinterpret_cast<const char*>(body.data()) + kFixedBytes;
  const auto text = [&](size_t size) { return std::string_view(std::exchange(at, at + size), size); };
  r.question = text(sizes[0]);
  r.model = text(sizes[1]);
  r.payload = text(sizes[2]);
  r.values = {reinterpret_cast<const int8_t*>(at), sizes[3]};
  return r;
}

// The body of the record at `at`, if its checksum vouches for it.
std::optional<std::span<const uint8_t>> good_body(std::span<const uint8_t> bytes, size_t at, uint64_t seed) {
  if (bytes.size() - at < kRecordHeaderBytes || get<uint32_t>(bytes, at) != marker(seed)) return std::nullopt;
  const size_t size = get<uint32_t>(bytes, at + 4);
  if (size > kMaxRecordBytes || size > bytes.size() - at - kRecordHeaderBytes) return std::nullopt;
  const auto body = bytes.subspan(at + kRecordHeaderBytes, size);
  if (get<uint64_t>(bytes, at + 8) != checksum(body.data(), size, seed)) return std::nullopt;
  return body;
}

size_t next_marker(std::span<const uint8_t> bytes, size_t from, uint64_t seed) {
  const uint32_t wanted = marker(seed);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const size_t at = text.find(std::string_view(reinterpret_cast<const char*>(&wanted), sizeof wanted), from);
  return at == std::string_view::npos ? bytes.size() : at;
}

void read_header(std::span<const uint8_t> bytes, LogScan& scan) {
  if (bytes.empty()) return;
  scan.header = LogHeader::kCorrupt;
  if (bytes.size() < kLogHeaderBytes || std::memcmp(bytes.data(), kMagic, 8) != 0) return;
  if (get<uint64_t>(bytes, 24) != XXH64(bytes.data(), 24, 0)) return;
  scan.version = get<uint32_t>(bytes, 8);
  scan.seed = get<uint64_t>(bytes, 16);
  scan.header = scan.version == kLogVersion ? LogHeader::kGood : LogHeader::kOtherVersion;
}

}  // namespace

std::string log_header(uint64_t seed) {
  std::string out(kMagic, 8);
  put(out, kLogVersion);
  put(out, uint32_t{0});
  put(out, seed);
  put(out, static_cast<uint64_t>(XXH64(out.data(), out.size(), 0)));
  return out;
}

size_t record_bytes(const Record& r) {
  return kRecordHeaderBytes + kFixedBytes + r.question.size() + r.model.size() + r.payload.size() + r.values.size();
}

void append_record(std::string& out, const Record& r, uint64_t seed) {
  std::string body;
  body.reserve(record_bytes(r));
  body.append(reinterpret_cast<const char*>(r.id.data()), 16);
  body.append(reinterpret_cast<const char*>(r.partition.data()), 16);
  put(body, r.created_s);
  put(body, r.scale);
  for (const size_t size : {r.question.size(), r.model.size(), r.payload.size(), r.values.size()}) {
    put(body, static_cast<uint32_t>(size));
  }
  body.append(r.question).append(r.model).append(r.payload);
  body.append(reinterpret_cast<const char*>(r.values.data()), r.values.size());
  put(out, marker(seed));
  put(out, static_cast<uint32_t>(body.size()));
  put(out, checksum(body.data(), body.size(), seed));
  out += body;
}

LogScan scan_log(std::span<const uint8_t> bytes, const OnRecord& on_record) {
  LogScan scan;
  read_header(bytes, scan);
  if (scan.header != LogHeader::kGood) return scan;
  scan.good_end = kLogHeaderBytes;
  for (size_t at = kLogHeaderBytes; at < bytes.size();) {
    const auto body = good_body(bytes, at, scan.seed);
    const auto record = body ? parse_body(*body) : std::nullopt;
    if (!record) {
      scan.skipped += at == scan.good_end;  // one stretch, however many false starts it holds
      at = next_marker(bytes, at + 1, scan.seed);
      continue;
    }
    on_record(*record, kRecordHeaderBytes + body->size());
    at += kRecordHeaderBytes + body->size();
    scan.good_end = at;
  }
  return scan;
}

}  // namespace hengshi::cache
