#include "text/simplify.h"

#include <opencc.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/log.h"
#include "text/utf8.h"

namespace hengshi::text {

namespace {

constexpr char32_t kFirst = 0x4E00;
constexpr char32_t kLast = 0x9FFF;
using Table = std::array<uint16_t, kLast - kFirst + 1>;

// One character a line through the converter, once: 42 kB stay, the dictionaries do not.
std::string convert_all() {
  std::string in;
  for (char32_t c = kFirst; c <= kLast; ++c) append(in, c), in += '\n';
  const opencc_t converter = opencc_open("t2s.json");
  if (converter == reinterpret_cast<opencc_t>(-1)) return in;
  char* converted = opencc_convert_utf8(converter, in.data(), in.size());
  std::string out = converted == nullptr ? in : std::string(converted);
  if (converted != nullptr) opencc_convert_utf8_free(converted);
  opencc_close(converter);
  return out;
}

Table build() {
  Table table;
  const std::string converted = convert_all();
  size_t at = 0;
  bool changed = false;
  for (char32_t c = kFirst; c <= kLast; ++c) {
    const size_t end = converted.find('\n', at);
    const CodePoint to = at < converted.size() ? decode(converted, at) : CodePoint{c};
    const bool single = end == at + to.bytes && to.value <= 0xFFFF;
    table[c - kFirst] = static_cast<uint16_t>(single ? to.value : c);
    changed |= table[c - kFirst] != c;
    at = end == std::string::npos ? converted.size() : end + 1;
  }
  if (!changed) log(LogLevel::kWarn, "text_no_opencc", {{"effect", "traditional characters are not simplified"}});
  return table;
}

}  // namespace

char32_t simplify(char32_t c) {
  static const Table table = build();
  return c >= kFirst && c <= kLast ? table[c - kFirst] : c;
}

}  // namespace hengshi::text
