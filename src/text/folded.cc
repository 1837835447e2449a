#include "text/folded.h"

#include "text/simplify.h"
#include "text/utf8.h"

namespace hengshi::text {

namespace {

char32_t folded(char32_t c) {
  if (c >= 0xFF01 && c <= 0xFF5E) c -= 0xFEE0;
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 0x20 : c;
  if (c >= 0x2010 && c <= 0x2015) return '-';
  if (c == 0x2018 || c == 0x2019) return '\'';
  if (c == 0x3002) return '.';
  if (c == 0xFFE5) return 0xA5;  // ￥
  return simplify(c);
}

bool is_space(char32_t c) { return c <= ' ' || c == 0xA0 || c == 0x3000; }

}  // namespace

std::string_view Folded::written(size_t begin, size_t end) const {
  const size_t last = where[end - 1];  // of the last character; spaces behind it were dropped
  return source.substr(where[begin], last + decode(source, last).bytes - where[begin]);
}

Folded fold(std::string_view source) {
  Folded out;
  out.source = source;
  bool gap = false;
  char32_t before = 0;
  const auto put = [&](char32_t c, size_t at) {
    const size_t from = out.text.size();
    append(out.text, c);
    out.where.insert(out.where.end(), out.text.size() - from, static_cast<uint32_t>(at));
  };
  for (size_t at = 0; at < source.size();) {
    const CodePoint c = decode(source, at);
    if (is_space(c.value)) {
      gap = true;
    } else {
      const char32_t next = folded(c.value);
      if (gap && before != 0 && !is_han(before) && !is_han(next)) put(' ', at - 1);
      gap = false;
      put(next, at);
      before = next;
    }
    at += c.bytes;
  }
  return out;
}

}  // namespace hengshi::text
