// snapshot.h — everything that may change at run time, as one immutable value taken at admission.
//
// Errors:  none here; app builds and validates it, and keeps the old one when the new one is bad.
// Threads: a Snapshot is immutable; Snapshots hands it out to any thread and swaps it whole.
#pragma once

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gateway/tenant.h"
#include "light/light.h"
#include "nn/encoder.h"
#include "route/route.h"
#include "rules/rules.h"
#include "text/text.h"
#include "upstream/upstream.h"

namespace hengshi::gateway {

enum class Scope { kUser, kTenant };
enum class OnExhausted { kApology, kUnavailable };
enum class Notice { kText, kHeader };

struct Route {
  std::string name;
  std::vector<std::string> models;  // request models that take this route
  std::vector<std::shared_ptr<upstream::Upstream>> chain;
  upstream::Times times;
  route::Policy policy;
  Scope scope = Scope::kUser;
  OnExhausted on_exhausted = OnExhausted::kApology;
  Notice notice = Notice::kText;
  std::optional<double> floor;               // overrides the artifact's: below it no degraded light answer is given
  std::optional<double> light_threshold;     // overrides the artifact's
  std::optional<double> semantic_threshold;  // overrides the encoder's
  bool concrete = false;                     // the model is an upstream's own: errors stay errors
};

// What one language has; either may be missing.
struct LanguageParts {
  std::shared_ptr<const nn::Encoder> encoder;
  std::string encoder_source;  // folder and time of its weights
  std::shared_ptr<const light::Model> light;
};

struct Snapshot {
  std::vector<std::shared_ptr<const Route>> routes;
  std::map<std::string, std::shared_ptr<const Route>, std::less<>> by_model;
  Keyring keys;
  std::shared_ptr<const rules::RuleSet> rules;
  std::array<LanguageParts, text::kLanguages.size()> languages;  // by text::Language
  std::string versions;                                          // for the ledger: "rules=… light.zh=… encoder.zh=…"
  int64_t created_s = 0;
  bool access_log = true;

  LanguageParts& own(text::Language language) { return languages.at(static_cast<size_t>(language)); }
  const LanguageParts& own(text::Language language) const { return languages.at(static_cast<size_t>(language)); }

  // What answers a question of this language: its own parts, or those of `other` where only they have a light model
  // or an encoder (short questions of a Latin language look English).
  const LanguageParts& parts(text::Language language) const {
    const LanguageParts& its = own(language);
    const LanguageParts& other = own(text::Language::kOther);
    return its.encoder == nullptr || (its.light == nullptr && other.light != nullptr) ? other : its;
  }
};
using SnapshotPtr = std::shared_ptr<const Snapshot>;

class Snapshots {
 public:
  explicit Snapshots(SnapshotPtr first) : current_(std::move(first)) {}
  SnapshotPtr take() const { return current_.load(); }
  void swap(SnapshotPtr next) { current_.store(std::move(next)); }

 private:
  std::atomic<SnapshotPtr> current_;
};

}  // namespace hengshi::gateway
