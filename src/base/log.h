// log.h — one JSON line per event on standard error.
//
// Errors:  none: a line that cannot be written is lost.
// Threads: any.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace hengshi {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };

void set_log_level(LogLevel level);

// A name and a text, or a number, which is written as one.
struct LogField {
  LogField(std::string_view field, std::string_view text) : name(field), value(text) {}
  LogField(std::string_view field, std::integral auto number) : name(field), value(static_cast<int64_t>(number)) {}

  std::string_view name;
  std::variant<std::string_view, int64_t> value;
};

// {"time":…,"level":…,"event":"…", fields…}. Callers never pass a key or a prompt.
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

// Appends text as a JSON string, quotes included; control characters escaped, UTF-8 kept.
void append_json_string(std::string& out, std::string_view text);

}  // namespace hengshi
