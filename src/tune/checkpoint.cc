#include "tune/checkpoint.h"

#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <type_traits>

#include "base/file.h"
#include "tune/dice.h"

namespace hengshi::tune {

static_assert(std::endian::native == std::endian::little, "the file is little-endian and read as it lies");
static_assert(std::is_trivially_copyable_v<Counters> && std::is_trivially_copyable_v<Validation>);

namespace {

struct Header {
  std::array<char, 8> magic = {'H', 'S', 'T', 'U', 'N', 'E', '0', '1'};
  Digest run = {};
  Counters counters;
  uint64_t validations = 0, parameters = 0, best = 0;
  uint64_t checksum = 0;
};
static_assert(std::is_trivially_copyable_v<Header>);

template <typename T>
std::string_view bytes_of(std::span<const T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

uint64_t checksum(uint64_t sum, std::string_view bytes) {
  for (size_t at = 0; at < bytes.size(); at += sizeof sum) {
    uint64_t word = 0;
    bytes.copy(reinterpret_cast<char*>(&word), sizeof word, at);
    sum = mix(sum ^ word) + at;
  }
  return sum;
}

template <typename T>
void take(std::string_view& from, std::vector<T>& into, size_t count) {
  into.resize(count);
  from.copy(reinterpret_cast<char*>(into.data()), count * sizeof(T));  // empty is nothing to it
  from.remove_prefix(count * sizeof(T));
}

}  // namespace

Result<void> write_checkpoint(const std::string& path, const Digest& run, const Standing& standing) {
  Header header;
  header.run = run;
  header.counters = standing.counters;
  header.validations = standing.history.size();
  header.parameters = standing.parameters.size();
  header.best = standing.best.size();
  std::vector<std::string_view> pieces = {{}, bytes_of(standing.history)};
  for (const auto& one : {standing.parameters, standing.first, standing.second, standing.best}) {
    pieces.push_back(bytes_of(one));
  }
  for (size_t i = 1; i < pieces.size(); ++i) header.checksum = checksum(header.checksum, pieces[i]);
  pieces[0] = {reinterpret_cast<const char*>(&header), sizeof header};
  return write_whole(path, pieces);
}

Result<std::optional<Checkpoint>> read_checkpoint(const std::string& path, const Digest& run, size_t parameters) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::nullopt;
  TRY(const std::string bytes, read_file(path));
  const auto refuse = [&](const char* why) {
    return fail(ErrorCode::kInvalidRequest, path + ": " + why + "; delete it to start the training over", path);
  };
  Header header;
  if (bytes.size() < sizeof header) return refuse("it is cut short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.magic != Header{}.magic) return refuse("it is no checkpoint");
  if (header.run != run || header.parameters != parameters) return refuse("it is of another run");
  std::string_view rest = std::string_view(bytes).substr(sizeof header);
  const size_t floats = (3 * parameters + header.best) * sizeof(float);
  if ((header.best != 0 && header.best != parameters) || header.validations > rest.size() ||
      rest.size() != header.validations * sizeof(Validation) + floats) {
    return refuse("it is cut short");
  }
  Checkpoint out;
  out.counters = header.counters;
  std::string_view read = rest;
  take(read, out.history, header.validations);
  for (auto* one : {&out.parameters, &out.first, &out.second}) take(read, *one, parameters);
  take(read, out.best, header.best);
  uint64_t sum = checksum(0, bytes_of(std::span<const Validation>(out.history)));
  for (const auto* one : {&out.parameters, &out.first, &out.second, &out.best}) {
    sum = checksum(sum, bytes_of(std::span<const float>(*one)));
  }
  if (sum != header.checksum) return refuse("its checksum does not hold");
  return out;
}

}  // namespace hengshi::tune
