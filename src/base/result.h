// result.h — how a fallible function answers: a value, or an Error that says what to do next.
//
// Errors: every code maps to exactly one HTTP status (see http_status), so a failure is translated once, at the door.
// Threads: values, no shared state.
#pragma once

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace hengshi {

enum class ErrorCode {
  kInvalidRequest,
  kUnauthorized,
  kForbidden,
  kNotFound,
  kMethodNotAllowed,
  kRequestTimeout,
  kTooLarge,
  kUnsupportedMedia,
  kUnprocessable,
  kHeadersTooLarge,
  kRateLimited,
  kCancelled,
  kInternal,
  kUpstream,
  kOverloaded,
  kDeadline,
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;      // Safe to show the caller: never a key, a prompt or an upstream's raw body.
  std::string param = {};   // The field, config key or file at fault; empty when there is none.
  std::string reason = {};  // The machine-readable code of the wire ("invalid_api_key"); empty when there is none.
  int retry_after_s = 0;    // Seconds after which a retry makes sense; 0 when unknown.
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorCode code, std::string message, std::string param = {},
                                  std::string reason = {}) {
  return tl::unexpected<Error>(Error{code, std::move(message), std::move(param), std::move(reason)});
}

int http_status(ErrorCode code);
std::string_view openai_error_type(ErrorCode code);

}  // namespace hengshi

#define HENGSHI_CONCAT_(a, b) a##b
#define HENGSHI_CONCAT(a, b) HENGSHI_CONCAT_(a, b)
#define HENGSHI_TRY_(tmp, lhs, expr, ret)               \
  auto tmp = (expr);                                    \
  if (!tmp) ret tl::unexpected(std::move(tmp).error()); \
  lhs = *std::move(tmp)

// TRY(auto x, f());             CO_TRY(auto x, co_await g());    hands the value on, or returns the error
// TRY_OK(f());                  CO_TRY_OK(co_await g());         the same for Result<void>
#define TRY(lhs, expr) HENGSHI_TRY_(HENGSHI_CONCAT(try_, __COUNTER__), lhs, expr, return)
#define CO_TRY(lhs, expr) HENGSHI_TRY_(HENGSHI_CONCAT(try_, __COUNTER__), lhs, expr, co_return)
#define TRY_OK(expr) \
  if (auto try_ok = (expr); !try_ok) return tl::unexpected(std::move(try_ok).error())
#define CO_TRY_OK(expr) \
  if (auto try_ok = (expr); !try_ok) co_return tl::unexpected(std::move(try_ok).error())
