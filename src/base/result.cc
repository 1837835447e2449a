#include "base/result.h"

namespace hengshi {

int http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidRequest: return 400;
    case ErrorCode::kUnauthorized: return 401;
    case ErrorCode::kForbidden: return 403;
    case ErrorCode::kNotFound: return 404;
    case ErrorCode::kMethodNotAllowed: return 405;
    case ErrorCode::kRequestTimeout: return 408;
    case ErrorCode::kTooLarge: return 413;
    case ErrorCode::kUnsupportedMedia: return 415;
    case ErrorCode::kUnprocessable: return 422;
    case ErrorCode::kHeadersTooLarge: return 431;
    case ErrorCode::kRateLimited: return 429;
    case ErrorCode::kCancelled: return 499;
    case ErrorCode::kInternal: return 500;
    case ErrorCode::kUpstream: return 502;
    case ErrorCode::kOverloaded: return 503;
    case ErrorCode::kDeadline: return 504;
  }
  return 500;
}

std::string_view openai_error_type(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalidRequest:
    case ErrorCode::kNotFound:
    case ErrorCode::kMethodNotAllowed:
    case ErrorCode::kTooLarge:
    case ErrorCode::kUnsupportedMedia:
    case ErrorCode::kUnprocessable:
    case ErrorCode::kHeadersTooLarge: return "invalid_request_error";
    case ErrorCode::kUnauthorized: return "authentication_error";
    case ErrorCode::kForbidden: return "permission_error";
    case ErrorCode::kRateLimited: return "rate_limit_error";
    case ErrorCode::kRequestTimeout:
    case ErrorCode::kDeadline: return "timeout_error";
    case ErrorCode::kCancelled:
    case ErrorCode::kInternal:
    case ErrorCode::kUpstream:
    case ErrorCode::kOverloaded: return "api_error";
  }
  return "api_error";
}

}  // namespace hengshi
