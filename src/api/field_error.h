// field_error.h — the three ways a field of a request can be wrong, in the words of the wire.
//
// Threads: free functions.
#pragma once

#include <string>
#include <string_view>

#include "api/json.h"
#include "base/result.h"

namespace hengshi::api {

// "Invalid type for 'n': expected an integer, got a string."
tl::unexpected<Error> wrong_type(std::string path, std::string_view expected, json::Kind got);
// "Missing required parameter 'model': <fix>."
tl::unexpected<Error> missing(std::string path, std::string_view fix);
// "Invalid value for 'n': <fix>."
tl::unexpected<Error> wrong_value(std::string path, std::string_view fix);

// "messages[3].content"
std::string path_of(std::string_view list, size_t index, std::string_view field = {});

// A client's own field name, fit for headers, logs and messages; "field" when it is not plain.
std::string plain_name(std::string_view name);

}  // namespace hengshi::api
