// tenant.h — who asks: keys, and the rates they may use.
//
// Units:   rates per minute; 0 means unlimited.
// Errors:  kUnauthorized (missing or wrong key), kRateLimited naming the limit, whose it is and when it resets.
// Threads: Limits from any thread; it outlives snapshots, so a reload never refills a bucket.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/clock.h"
#include "base/digest.h"
#include "base/result.h"

namespace hengshi::gateway {

struct Key {
  std::string name = "anonymous";
  std::string tenant = "default";
  int64_t requests_per_minute = 0;
  int64_t tokens_per_minute = 0;
  std::string user_header;  // header that names the end user; empty: the `user` field only
};

// The key of "Authorization: Bearer …"; empty: none was given so.
std::string_view bearer_key(std::string_view authorization);

class Keyring {
 public:
  // `sha256` is the hex SHA-256 of the secret. False when that secret is already there.
  bool add(std::string_view sha256_hex, const Key& key);
  bool empty() const { return keys_.empty(); }
  size_t size() const { return keys_.size(); }
  // Whose key was given; without any configured key, the anonymous one.
  Result<const Key*> find(std::string_view authorization) const;

 private:
  std::unordered_map<Digest, Key, DigestHash> keys_;
  Key anonymous_;
};

// What is left of a key's rates, for the x-ratelimit headers.
struct RateState {
  int64_t limit_requests = 0, remaining_requests = 0, reset_requests_s = 0;
  int64_t limit_tokens = 0, remaining_tokens = 0, reset_tokens_s = 0;
};

class Limits {
 public:
  explicit Limits(const Clock& clock) : clock_(clock) {}
  // Takes one request; tokens are paid afterwards with spend(), so an empty token bucket refuses the next request.
  Result<RateState> admit(const Key& key);
  // What is left, taking nothing: a refusal carries it too.
  RateState left(const Key& key);
  void spend(const Key& key, int64_t tokens);

 private:
  struct Bucket {
    double level = 0;
    double rate = 0;  // per minute, when last filled; a bucket whose rate was 0 starts full
    Monotonic at{};
    void refill(double per_minute, Monotonic now);
  };
  struct Buckets {
    Bucket requests, tokens;
  };
  Buckets* refilled(const Key& key);  // null for a key without rates
  static RateState state(const Key& key, const Buckets& buckets);

  const Clock& clock_;
  std::mutex mutex_;
  std::map<std::string, Buckets, std::less<>> buckets_;
};

}  // namespace hengshi::gateway
