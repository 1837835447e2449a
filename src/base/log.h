// log.h — one JSON line per event on standard error.
//
// Errors:  none: a line that cannot be written is lost.
// Threads: any.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace hengshi {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };

void set_log_level(LogLevel level);

using LogField = std::pair<std::string_view, std::string_view>;

// {"time":…,"level":…,"event":"…", fields…}. Callers never pass a key or a prompt.
void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields = {});

// Appends text as a JSON string, quotes included; control characters escaped, UTF-8 kept.
void append_json_string(std::string& out, std::string_view text);

}  // namespace hengshi
