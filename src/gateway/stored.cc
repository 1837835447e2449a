#include "gateway/stored.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace hengshi::gateway {

namespace {

constexpr std::string_view kMagic = "answer/1 ";

}  // namespace

// answer/1 PROMPT COMPLETION CACHED REASONING ESTIMATED\nMODEL\nCHOICES
std::string encode_stored(const api::Completion& completion) {
  const api::Usage& usage = completion.usage;
  return fmt::format("{}{} {} {} {} {}\n{}\n{}", kMagic, usage.prompt, usage.completion, usage.cached, usage.reasoning,
                     usage.estimated ? 1 : 0, completion.model, completion.choices);
}

std::optional<api::Completion> decode_stored(std::string_view payload) {
  if (!payload.starts_with(kMagic)) return std::nullopt;
  const char* at = payload.data() + kMagic.size();
  const char* const end = payload.data() + payload.size();
  std::array<int64_t, 5> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc{} || next == end || *next != (i + 1 < numbers.size() ? ' ' : '\n')) return std::nullopt;
    at = next + 1;
  }
  const std::string_view rest(at, static_cast<size_t>(end - at));
  const size_t line = rest.find('\n');
  if (line == rest.npos) return std::nullopt;
  api::Completion out;
  out.model = rest.substr(0, line);
  out.choices = rest.substr(line + 1);
  out.usage = {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4] != 0};
  return out;
}

}  // namespace hengshi::gateway
