#include "gateway/tenant.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hengshi::gateway {

namespace {

constexpr std::string_view kBearer = "Bearer ";

Digest digest_of_hex(std::string_view hex) {
  Digest out{};
  for (size_t i = 0; i < out.size() && 2 * i + 2 <= hex.size(); ++i) {
    std::from_chars(hex.data() + 2 * i, hex.data() + 2 * i + 2, out[i], 16);
  }
  return out;
}

int64_t seconds_until(double missing, double per_minute) {
  return per_minute > 0 && missing > 0 ? static_cast<int64_t>(std::ceil(missing * 60 / per_minute)) : 0;
}

tl::unexpected<Error> limited(const Key& key, std::string_view what, int64_t limit, int64_t wait_s) {
  Error error{ErrorCode::kRateLimited,
              fmt::format("Rate limit reached for key '{}' of tenant '{}': {} {} per minute. Try again in {} s.",
                          key.name, key.tenant, limit, what, wait_s)};
  error.reason = "rate_limit_exceeded";
  error.retry_after_s = static_cast<int>(std::max<int64_t>(wait_s, 1));
  return tl::unexpected(std::move(error));
}

}  // namespace

bool Keyring::add(std::string_view sha256_hex, Key key) {
  return keys_.try_emplace(digest_of_hex(sha256_hex), std::move(key)).second;
}

Result<const Key*> Keyring::find(std::string_view authorization) const {
  if (keys_.empty()) return &anonymous_;
  if (!authorization.starts_with(kBearer)) {
    return fail(ErrorCode::kUnauthorized, "No API key was given. Send it as 'Authorization: Bearer KEY'.", {},
                "invalid_api_key");
  }
  const auto it = keys_.find(digest(authorization.substr(kBearer.size())));
  if (it == keys_.end()) {
    return fail(ErrorCode::kUnauthorized, "The API key is not known here. `hengshi keys add` makes one.", {},
                "invalid_api_key");
  }
  return &it->second;
}

void Limits::Bucket::refill(double per_minute, Monotonic now) {
  if (level < 0 && at == Monotonic{}) {
    level = per_minute;
  } else {
    level = std::min(per_minute, level + std::chrono::duration<double>(now - at).count() * per_minute / 60);
  }
  at = now;
}

Result<RateState> Limits::admit(const Key& key) {
  RateState state;
  if (key.requests_per_minute == 0 && key.tokens_per_minute == 0) return state;
  const std::lock_guard lock(mutex_);
  auto it = buckets_.find(key.name);
  if (it == buckets_.end()) it = buckets_.emplace(key.name, Buckets{}).first;
  Buckets& buckets = it->second;
  const auto now = clock_.monotonic();
  if (key.tokens_per_minute > 0) {
    const auto rate = static_cast<double>(key.tokens_per_minute);
    buckets.tokens.refill(rate, now);
    if (buckets.tokens.level <= 0) {
      return limited(key, "tokens", key.tokens_per_minute, seconds_until(1 - buckets.tokens.level, rate));
    }
    state.limit_tokens = key.tokens_per_minute;
    state.remaining_tokens = static_cast<int64_t>(buckets.tokens.level);
    state.reset_tokens_s = seconds_until(rate - buckets.tokens.level, rate);
  }
  if (key.requests_per_minute > 0) {
    const auto rate = static_cast<double>(key.requests_per_minute);
    buckets.requests.refill(rate, now);
    if (buckets.requests.level < 1) {
      return limited(key, "requests", key.requests_per_minute, seconds_until(1 - buckets.requests.level, rate));
    }
    buckets.requests.level -= 1;
    state.limit_requests = key.requests_per_minute;
    state.remaining_requests = static_cast<int64_t>(buckets.requests.level);
    state.reset_requests_s = seconds_until(rate - buckets.requests.level, rate);
  }
  return state;
}

void Limits::spend(const Key& key, int64_t tokens) {
  if (key.tokens_per_minute == 0) return;
  const std::lock_guard lock(mutex_);
  if (const auto it = buckets_.find(key.name); it != buckets_.end()) {
    it->second.tokens.level -= static_cast<double>(tokens);
  }
}

}  // namespace hengshi::gateway
