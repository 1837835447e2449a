#include "gateway/tenant.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
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

bool Keyring::add(std::string_view sha256_hex, const Key& key) {
  return keys_.try_emplace(digest_of_hex(sha256_hex), key).second;
}

std::string_view bearer_key(std::string_view authorization) {
  const bool bearer =
      authorization.size() > kBearer.size() &&
      std::equal(kBearer.begin(), kBearer.end(), authorization.begin(), [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
      });
  return bearer ? authorization.substr(kBearer.size()) : std::string_view();
}

Result<const Key*> Keyring::find(std::string_view authorization) const {
  if (keys_.empty()) return &anonymous_;
  const std::string_view key = bearer_key(authorization);
  if (key.empty()) {
    return fail(ErrorCode::kUnauthorized, "No API key was given. Send it as 'Authorization: Bearer KEY'.", {},
                "invalid_api_key");
  }
  const auto it = keys_.find(digest(key));
  if (it == keys_.end()) {
    return fail(ErrorCode::kUnauthorized, "The API key is not known here. `hengshi keys add` makes one.", {},
                "invalid_api_key");
  }
  return &it->second;
}

void Limits::Bucket::refill(double per_minute, Monotonic now) {
  if (rate == 0) {
    level = per_minute;
  } else {
    level = std::min(per_minute, level + std::chrono::duration<double>(now - at).count() * per_minute / 60);
  }
  rate = per_minute;
  at = now;
}

Limits::Buckets* Limits::refilled(const Key& key) {
  if (key.requests_per_minute == 0 && key.tokens_per_minute == 0) return nullptr;
  auto it = buckets_.find(key.name);
  if (it == buckets_.end()) it = buckets_.emplace(key.name, Buckets{}).first;
  const auto now = clock_.monotonic();
  it->second.requests.refill(static_cast<double>(key.requests_per_minute), now);
  it->second.tokens.refill(static_cast<double>(key.tokens_per_minute), now);
  return &it->second;
}

RateState Limits::state(const Key& key, const Buckets& buckets) {
  RateState out;
  if (key.tokens_per_minute > 0) {
    const auto rate = static_cast<double>(key.tokens_per_minute);
    out.limit_tokens = key.tokens_per_minute;
    out.remaining_tokens = std::max<int64_t>(0, static_cast<int64_t>(buckets.tokens.level));
    out.reset_tokens_s = seconds_until(rate - buckets.tokens.level, rate);
  }
  if (key.requests_per_minute > 0) {
    const auto rate = static_cast<double>(key.requests_per_minute);
    out.limit_requests = key.requests_per_minute;
    out.remaining_requests = static_cast<int64_t>(buckets.requests.level);
    out.reset_requests_s = seconds_until(rate - buckets.requests.level, rate);
  }
  return out;
}

Result<RateState> Limits::admit(const Key& key) {
  const std::lock_guard lock(mutex_);
  Buckets* buckets = refilled(key);
  if (buckets == nullptr) return RateState{};
  if (key.tokens_per_minute > 0 && buckets->tokens.level <= 0) {
    const auto rate = static_cast<double>(key.tokens_per_minute);
    return limited(key, "tokens", key.tokens_per_minute, seconds_until(1 - buckets->tokens.level, rate));
  }
  if (key.requests_per_minute > 0) {
    if (buckets->requests.level < 1) {
      const auto rate = static_cast<double>(key.requests_per_minute);
      return limited(key, "requests", key.requests_per_minute, seconds_until(1 - buckets->requests.level, rate));
    }
    buckets->requests.level -= 1;
  }
  return state(key, *buckets);
}

RateState Limits::left(const Key& key) {
  const std::lock_guard lock(mutex_);
  const Buckets* buckets = refilled(key);
  return buckets == nullptr ? RateState{} : state(key, *buckets);
}

void Limits::spend(const Key& key, int64_t tokens) {
  if (key.tokens_per_minute == 0) return;
  const std::lock_guard lock(mutex_);
  if (const auto it = buckets_.find(key.name); it != buckets_.end()) {
    it->second.tokens.level -= static_cast<double>(tokens);
  }
}

}  // namespace hengshi::gateway
