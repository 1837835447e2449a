#include "train/eval_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "train/folds.h"
#include "train/pack.h"
#include "train/rows.h"

namespace hengshi::train {

namespace {

constexpr double kUsualShare = 0.15;

using Labelled = std::vector<std::pair<std::string, std::string>>;  // text, label

Result<Labelled> read_labelled(const std::string& file) {
  TRY(std::vector<Row> rows, read_rows(file, OtherKeys::kIgnored));
  Labelled out;
  for (Row& row : rows) out.emplace_back(std::move(row.text), std::move(row.label));
  return out;
}

// Sets `language` to the pack's, where it has but one.
Result<Labelled> read_pack_rows(const std::string& path, text::Language& language) {
  TRY(const Pack pack, read_pack(path));
  if (pack.languages.size() == 1) language = pack.languages.front();
  if (std::find(pack.languages.begin(), pack.languages.end(), language) == pack.languages.end()) {
    return fail(
        ErrorCode::kInvalidRequest,
        fmt::format("{}: the pack has no {}, the language of the test file", path, text::language_name(language)),
        path);
  }
  Labelled out;
  for (const PackIntent* intent : intents_in(pack, language)) {
    for (const Located& one : intent->sides.at(language).phrasings) out.emplace_back(one.text, intent->name.text);
  }
  if (const auto negatives = pack.negatives.find(language); negatives != pack.negatives.end()) {
    for (const Located& one : negatives->second) out.emplace_back(one.text, kOutOfScope);
  }
  return out;
}

text::Language language_of(const Labelled& rows) {
  std::array<size_t, text::kLanguages.size()> count = {};
  for (const auto& [text, label] : rows) ++count.at(static_cast<size_t>(text::detect_language(text)));
  for (const text::Language language : {text::Language::kChinese, text::Language::kOther}) {
    if (count.at(static_cast<size_t>(language)) * 2 > rows.size()) return language;
  }
  return text::Language::kEnglish;
}

class Labels {
 public:
  Labels(const Labelled& train, size_t unknown_every) {
    std::set<std::string> all;
    for (const auto& [text, label] : train) all.insert(label);
    all.erase(std::string(kOutOfScope));
    size_t i = 0;
    for (const std::string& label : all) {
      const bool unknown = unknown_every > 0 && ++i % unknown_every == 0;
      if (unknown) {
        unknown_.insert(label);
      } else {
        names_.push_back(label);
      }
    }
  }

  const std::vector<std::string>& names() const { return names_; }
  bool is_unknown(const std::string& label) const { return unknown_.contains(label); }

  uint32_t of(const std::string& label) const {
    if (label == kOutOfScope || is_unknown(label)) return static_cast<uint32_t>(names_.size());
    const auto at = std::lower_bound(names_.begin(), names_.end(), label);
    return at != names_.end() && *at == label ? static_cast<uint32_t>(at - names_.begin()) : kUnlearnable;
  }

 private:
  std::vector<std::string> names_;
  std::set<std::string> unknown_;
};

// A fifth of train, stratified and text-disjoint, where no dev file is given.
std::pair<Labelled, Labelled> hold_back(Labelled rows) {
  std::vector<std::string> normalised;
  std::map<std::string, uint32_t> numbers;
  std::vector<uint32_t> labels;
  for (const auto& [text, label] : rows) {
    normalised.push_back(text::normalise(text));
    labels.push_back(numbers.emplace(label, numbers.size()).first->second);
  }
  const std::vector<size_t> fold = make_folds(normalised, labels, 5, 1);
  std::pair<Labelled, Labelled> out;
  for (size_t i = 0; i < rows.size(); ++i) (fold[i] == 0 ? out.second : out.first).push_back(std::move(rows[i]));
  return out;
}

Result<void> add_negatives(const EvalIntentOptions& options, uint32_t label, EvalData& data) {
  const bool shared = options.oos_dev == options.oos_test;
  const auto add = [&](const std::string& file, size_t first, std::vector<Question>& into) -> Result<void> {
    if (file.empty()) return {};
    TRY(const Labelled rows, read_labelled(file));
    for (size_t i = first; i < rows.size(); i += shared ? 2 : 1) into.push_back({rows[i].first, label});
    return {};
  };
  TRY_OK(add(options.oos_dev, 0, data.dev));
  return add(options.oos_test, shared ? 1 : 0, data.test);
}

}  // namespace

Result<EvalData> read_eval_data(const EvalIntentOptions& options) {
  EvalData data;
  if (options.train.empty() == options.pack.empty()) {
    return fail(ErrorCode::kInvalidRequest, "give either a train file or a pack: --train FILE or --pack FOLDER",
                "train");
  }
  TRY(const Labelled test, read_labelled(options.test));
  data.language = language_of(test);
  Labelled train, dev;
  if (options.pack.empty()) {
    TRY(train, read_labelled(options.train));
  } else {
    TRY(train, read_pack_rows(options.pack, data.language));
  }
  if (options.dev.empty()) {
    auto [kept, held] = hold_back(std::move(train));
    train = std::move(kept);
    dev = std::move(held);
  } else {
    TRY(dev, read_labelled(options.dev));
  }
  const Labels labels(train, options.unknown_every);
  data.intents = labels.names();
  if (data.intents.size() < 2) {
    const std::string& file = options.pack.empty() ? options.train : options.pack;
    return fail(ErrorCode::kInvalidRequest, fmt::format("{}: a classifier needs two intents at least", file), file);
  }
  for (const auto& [text, label] : train) {
    if (!labels.is_unknown(label)) data.train.push_back({text, labels.of(label)});
  }
  for (const auto& [text, label] : dev) {
    if (labels.of(label) != kUnlearnable) data.dev.push_back({text, labels.of(label)});
  }
  for (const auto& [text, label] : test) data.test.push_back({text, labels.of(label)});
  const auto out_of_scope = static_cast<uint32_t>(data.intents.size());
  TRY_OK(add_negatives(options, out_of_scope, data));
  const bool expected = options.dev.empty() || std::any_of(data.dev.begin(), data.dev.end(), [&](const Question& one) {
                          return one.label == out_of_scope;
                        });
  data.oos_share = options.oos_share.value_or(expected ? kUsualShare : 0);
  return data;
}

}  // namespace hengshi::train
