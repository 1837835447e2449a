// Any bytes as the cache's file: the scan ends, and hands on only what its checksum vouches for. So that the fuzzer
// gets past the checksums, the input is also read as a good header and a good record with bytes changed in them.
#include <cstdint>
#include <string>

#include "base/check.h"
#include "cache/record.h"

namespace {

using hengshi::cache::Record;

void scan(std::string_view bytes) {
  size_t read = 0;
  const auto result = hengshi::cache::scan_log(
      {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, [&](const Record& r, size_t size) {
        CHECK(size == hengshi::cache::record_bytes(r), "a record is as long as its parts");
        read += size + r.question.size() + static_cast<size_t>(r.values.empty() ? 0 : r.values.back() != 0);
      });
  CHECK(result.good_end <= bytes.size(), "the end is within the file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  scan(input);
  constexpr uint64_t kSeed = 7;
  std::string log = hengshi::cache::log_header(kSeed);
  Record record;
  record.question = input.substr(0, size / 2);
  record.payload = input.substr(size / 2);
  record.values = {reinterpret_cast<const int8_t*>(data), size % 64};
  hengshi::cache::append_record(log, record, kSeed);
  hengshi::cache::append_record(log, record, kSeed);
  scan(log);
  for (size_t i = 0; i + 1 < size && i < 8; i += 2) log[data[i] % log.size()] = static_cast<char>(data[i + 1]);
  scan(log);
  scan(log + std::string(input));
  return 0;
}
