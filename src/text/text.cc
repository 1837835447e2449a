#include "text/text.h"

#include <unicode/bytestream.h>
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include <cstdint>
#include <cstring>

#include "text/simplify.h"
#include "text/utf8.h"

namespace hengshi::text {

namespace {

bool is_kana_or_hangul(char32_t c) {
  return (c >= 0x3041 && c <= 0x30FF && c != 0x30FB) || (c >= 0x31F0 && c <= 0x31FF) || (c >= 0xFF66 && c <= 0xFF9D) ||
         (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0x1100 && c <= 0x11FF) || (c >= 0x3131 && c <= 0x318E);
}

bool is_basic_letter(char32_t c) {
  const char32_t lower = (c >= 0xFF21 && c <= 0xFF5A ? c - 0xFEE0 : c) | 0x20;  // full width counts as basic
  return lower >= 'a' && lower <= 'z';
}

// Most text is ASCII: eight bytes of it are told at once.
bool eight_ascii(std::string_view s, size_t at) {
  uint64_t eight = 0;
  if (s.size() - at < sizeof eight) return false;
  std::memcpy(&eight, s.data() + at, sizeof eight);
  return (eight & 0x8080808080808080u) == 0;
}

bool is_space(char32_t c) {
  return c <= ' ' || c == 0x7F || (c >= 0x80 && c <= 0xA0) || c == 0x2028 || c == 0x2029 || c == 0x3000;
}

// Characters that NFKC leaves alone and that never combine with a neighbour.
bool is_stable(char32_t c) {
  return c < 0x80 || (c >= 0x4E00 && c <= 0x9FFF) || c == 0x3001 || c == 0x3002 || (c >= 0x3008 && c <= 0x3011) ||
         (c >= 0x2018 && c <= 0x201D && c != 0x201B);
}

enum class Scan { kStable, kUnstable, kInvalid };

Scan scan(std::string_view s) {
  Scan result = Scan::kStable;
  for (size_t at = 0; at < s.size();) {
    const CodePoint c = decode(s, at);
    if (!c.valid) return Scan::kInvalid;
    if (!is_stable(c.value)) result = Scan::kUnstable;
    at += c.bytes;
  }
  return result;
}

std::string repair(std::string_view s) {
  std::string out;
  for (size_t at = 0; at < s.size();) {
    const CodePoint c = decode(s, at);
    append(out, c.value);
    at += c.bytes;
  }
  return out;
}

// Precondition: valid UTF-8.
std::string nfkc_casefold(std::string_view s) {
  UErrorCode status = U_ZERO_ERROR;
  const icu::Normalizer2* normalizer = icu::Normalizer2::getNFKCCasefoldInstance(status);
  std::string out;
  out.reserve(s.size() + 16);
  icu::StringByteSink<std::string> sink(&out);
  if (U_SUCCESS(status)) {
    normalizer->normalizeUTF8(0, icu::StringPiece(s.data(), static_cast<int32_t>(s.size())), sink, nullptr, status);
  }
  return U_SUCCESS(status) ? out : std::string(s);
}

char32_t fold(char32_t c) {
  if (c < 0x80) return c >= 'A' && c <= 'Z' ? c + 0x20 : c;
  if (c == 0x2018 || c == 0x2019) return '\'';
  if (c == 0x201C || c == 0x201D) return '"';
  if (c == 0x3002) return '.';
  return simplify(c);
}

bool ends_sentence(char32_t c) {
  return c == '.' || c == '?' || c == '!' || c == ',' || c == ';' || c == '~' || c == ' ' || c == 0x3001 ||
         c == 0x2026 || c == 0xBF || c == 0xA1;
}

size_t last_character(std::string_view s) {
  size_t at = s.size() - 1;
  while (at > 0 && (static_cast<uint8_t>(s[at]) & 0xC0) == 0x80) --at;
  return at;
}

void drop_trailing_punctuation(std::string& s) {
  size_t end = s.size();
  while (end > 0) {
    const size_t at = last_character(std::string_view(s).substr(0, end));
    const char32_t c = decode(s, at).value;
    const bool factorial = c == '!' && at > 0 && s[at - 1] >= '0' && s[at - 1] <= '9';  // 5! is not 5
    if (!ends_sentence(c) || factorial) break;
    end = at;
  }
  if (end > 0) s.resize(end);  // a text of punctuation alone stays what it is
}

// Folds and spaces out a text that is already NFKC.
std::string fold_all(std::string_view s) {
  std::string out;
  out.reserve(s.size());
  bool gap = false;
  char32_t before = 0;
  for (size_t at = 0; at < s.size();) {
    const CodePoint c = decode(s, at);
    at += c.bytes;
    if (is_space(c.value)) {
      gap = true;
      continue;
    }
    const char32_t folded = fold(c.value);
    if (gap && before != 0 && !is_han(before) && !is_han(folded)) out += ' ';
    gap = false;
    append(out, folded);
    before = folded;
  }
  return out;
}

}  // namespace

std::string_view language_name(Language language) {
  switch (language) {
    case Language::kChinese: return "zh";
    case Language::kEnglish: return "en";
    case Language::kOther: return "other";
  }
  return "other";
}

std::optional<Language> language_named(std::string_view name) {
  for (const Language language : kLanguages) {
    if (name == language_name(language)) return language;
  }
  return std::nullopt;
}

Language detect_language(std::string_view s) {
  bool han = false, basic = false, foreign = false;
  for (size_t at = 0; at < s.size();) {
    if (const auto byte = static_cast<unsigned char>(s[at]); byte < 0x80) {
      basic = basic || is_basic_letter(byte);
      ++at;
      continue;
    }
    const CodePoint c = decode(s, at);
    at += c.bytes;
    if (is_han(c.value)) {
      han = true;
    } else if (is_kana_or_hangul(c.value)) {
      return Language::kOther;
    } else if (is_basic_letter(c.value)) {
      basic = true;
    } else if (u_isalpha(static_cast<UChar32>(c.value))) {
      foreign = true;
    }
  }
  if (han) return Language::kChinese;
  return basic && !foreign ? Language::kEnglish : Language::kOther;
}

bool valid_utf8(std::string_view s) {
  for (size_t at = 0; at < s.size();) {
    if (eight_ascii(s, at)) {
      at += 8;
      continue;
    }
    const CodePoint c = decode(s, at);
    if (!c.valid) return false;
    at += c.bytes;
  }
  return true;
}

size_t count_characters(std::string_view s) {
  size_t n = 0;
  for (size_t at = 0; at < s.size();) {
    const bool eight = eight_ascii(s, at);
    at += eight ? 8 : decode(s, at).bytes;
    n += eight ? 8 : 1;
  }
  return n;
}

std::string normalise(std::string_view s) {
  const Scan kind = scan(s);
  std::string out = kind == Scan::kStable     ? fold_all(s)
                    : kind == Scan::kUnstable ? fold_all(nfkc_casefold(s))
                                              : fold_all(nfkc_casefold(repair(s)));
  drop_trailing_punctuation(out);
  return out;
}

}  // namespace hengshi::text
