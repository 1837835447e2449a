#include "base/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <iterator>
#include <memory>

namespace hengshi {

namespace {

spdlog::logger& sink() {
  static const auto kLogger = [] {
    auto logger = std::make_shared<spdlog::logger>("hengshi", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    logger->set_pattern(R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z","level":"%l",%v})");
    return logger;
  }();
  return *kLogger;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug: return spdlog::level::debug;
    case LogLevel::kInfo: return spdlog::level::info;
    case LogLevel::kWarn: return spdlog::level::warn;
    case LogLevel::kError: return spdlog::level::err;
    case LogLevel::kOff: return spdlog::level::off;
  }
  return spdlog::level::info;
}

}  // namespace

void set_log_level(LogLevel level) { sink().set_level(to_spdlog(level)); }

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  size_t done = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c >= 0x20 && c != '"' && c != '\\') continue;
    out.append(text, done, i - done);
    done = i + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\r': out += "\\r"; break;
      case '\t': out += "\\t"; break;
      default: fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
    }
  }
  out.append(text, done);
  out += '"';
}

void log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!sink().should_log(to_spdlog(level))) return;
  std::string line = "\"event\":";
  append_json_string(line, event);
  for (const auto& [name, value] : fields) {
    line += ',';
    append_json_string(line, name);
    line += ':';
    if (const auto* number = std::get_if<int64_t>(&value)) {
      line += fmt::format_int(*number).str();
    } else {
      append_json_string(line, std::get<std::string_view>(value));
    }
  }
  sink().log(to_spdlog(level), "{}", line);
}

}  // namespace hengshi
