// value.h — finds a value of a known kind in a question: what fills an answer's slot.
//
// Shapes:  number and percent come in digits (三百 → 300, 百分之二十 → 20%), the others as they were written.
// Errors:  a text without such a value gives nothing. The first one of several is taken.
// Threads: free functions, any thread.
// Source:  docs/pack.md.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace hengshi::text {

enum class ValueKind { kNumber, kDate, kTime, kAmount, kPercent, kPhone, kEmail, kId };

inline constexpr std::string_view kValueKinds = "number, date, time, amount, percent, phone, email, id";

std::optional<ValueKind> value_kind(std::string_view name);
std::string_view value_kind_name(ValueKind kind);

std::optional<std::string> find_value(ValueKind kind, std::string_view question);

}  // namespace hengshi::text
