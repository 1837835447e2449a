// text.h — what a question says, before any model sees it: language, normal form, counts.
//
// Errors:  input is valid UTF-8 (the door checks); invalid bytes are treated as U+FFFD, never read past.
// Threads: free functions, any thread.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

namespace hengshi::text {

enum class Language { kChinese, kEnglish, kOther };  // kOther: all further ones together
inline constexpr std::array kLanguages = {Language::kChinese, Language::kEnglish, Language::kOther};
std::string_view language_name(Language language);  // "zh", "en", "other"
std::optional<Language> language_named(std::string_view name);

// Chinese when it holds Han characters (and no kana or hangul), English when its letters are basic Latin.
Language detect_language(std::string_view text);

bool valid_utf8(std::string_view bytes);
size_t count_characters(std::string_view text);

// NFKC, case folded, traditional to simplified, one space between words, none at the ends or beside Han characters,
// trailing sentence punctuation dropped. Two texts of one normal form are the same question.
std::string normalise(std::string_view text);

}  // namespace hengshi::text
