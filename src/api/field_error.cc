#include "api/field_error.h"

#include <algorithm>
#include <cctype>

namespace hengshi::api {

namespace {

tl::unexpected<Error> refuse(std::string message, std::string path, std::string reason) {
  return fail(ErrorCode::kInvalidRequest, std::move(message), std::move(path), std::move(reason));
}

std::string quoted(std::string_view before, std::string_view path) {
  std::string out(before);
  out += '\'';
  out += path;
  out += "': ";
  return out;
}

}  // namespace

tl::unexpected<Error> wrong_type(std::string path, std::string_view expected, json::Kind got) {
  std::string message = quoted("Invalid type for ", path) + "expected ";
  message += expected;
  message += ", got ";
  message += json::name_of(got);
  message += '.';
  return refuse(std::move(message), std::move(path), "invalid_type");
}

tl::unexpected<Error> missing(std::string path, std::string_view fix) {
  std::string message = quoted("Missing required parameter ", path).append(fix) + '.';
  return refuse(std::move(message), std::move(path), "missing_required_parameter");
}

tl::unexpected<Error> wrong_value(std::string path, std::string_view fix) {
  std::string message = quoted("Invalid value for ", path).append(fix) + '.';
  return refuse(std::move(message), std::move(path), "invalid_value");
}

std::string path_of(std::string_view list, size_t index, std::string_view field) {
  std::string path(list);
  path += '[';
  path += std::to_string(index);
  path += ']';
  if (!field.empty()) (path += '.') += field;
  return path;
}

std::string plain_name(std::string_view name) {
  constexpr size_t kLongest = 64;
  const bool plain = !name.empty() && name.size() <= kLongest && std::ranges::all_of(name, [](unsigned char c) {
    return c < 0x80 && (std::isalnum(c) != 0 || c == '_' || c == '-' || c == '.');
  });
  return plain ? std::string(name) : "field";
}

}  // namespace hengshi::api
