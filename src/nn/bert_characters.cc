#include "nn/bert_characters.h"

#include <unicode/normalizer2.h>
#include <unicode/uchar.h>

#include "base/check.h"

namespace hengshi::nn {

namespace {

UChar32 icu(char32_t c) { return static_cast<UChar32>(c); }

// The reference's category tables stop at Unicode 8: what came later has no category there, and six that later moved
// keep the one they had.
uint32_t category_mask(char32_t c) {
  switch (c) {
    case 0x166D:
    case 0x111C9: return U_GC_PO_MASK;
    case 0x1734: return U_GC_MN_MASK;
    case 0x1885:
    case 0x1886: return U_GC_LO_MASK;
    case 0xA9BD: return U_GC_MC_MASK;
    default: break;
  }
  UVersionInfo age;
  u_charAge(icu(c), age);
  return age[0] > 8 ? 0U : U_MASK(u_charType(icu(c)));
}

const icu::Normalizer2& nfd() {
  UErrorCode error = U_ZERO_ERROR;
  const icu::Normalizer2* const instance = icu::Normalizer2::getNFDInstance(error);
  CHECK(U_SUCCESS(error) && instance != nullptr, "ICU carries its normalisation data");
  return *instance;
}

}  // namespace

bool is_bert_whitespace(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= '\t' && c <= '\r');
  return u_isUWhiteSpace(icu(c)) != 0;
}

bool is_bert_control(char32_t c) {
  if (c == '\t' || c == '\n' || c == '\r') return false;
  if (c < 0x80) return c < 0x20 || c == 0x7F;
  if (c == 0xFFFD) return true;
  return (category_mask(c) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK | U_GC_CS_MASK)) != 0;
}

bool is_bert_ideograph(char32_t c) {
  if (c < 0x3400) return false;
  return (c >= 0x4E00 && c <= 0x9FFF) || c <= 0x4DBF || (c >= 0x20000 && c <= 0x2A6DF) ||
         (c >= 0x2A700 && c <= 0x2B73F) || (c >= 0x2B740 && c <= 0x2B81F) || (c >= 0x2B920 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool is_bert_punctuation(char32_t c) {
  if (c < 0x80) {
    return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
  }
  return (category_mask(c) & U_GC_P_MASK) != 0;
}

bool is_nonspacing_mark(char32_t c) { return c >= 0x300 && (category_mask(c) & U_GC_MN_MASK) != 0; }

void append_decomposition(char32_t c, std::u32string& out) {
  thread_local icu::UnicodeString decomposed;
  if (c < 0xC0 || !nfd().getDecomposition(icu(c), decomposed)) {
    out.push_back(c);
    return;
  }
  for (int32_t i = 0; i < decomposed.length(); i = decomposed.moveIndex32(i, 1)) {
    out.push_back(static_cast<char32_t>(decomposed.char32At(i)));
  }
}

void append_lowercase(char32_t c, std::u32string& out) {
  if (c < 0x80) {
    out.push_back(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  } else if (c == 0x130) {
    out += U"i\u0307";
  } else {
    out.push_back(static_cast<char32_t>(u_tolower(icu(c))));
  }
}

}  // namespace hengshi::nn
