#include "train/risk_stream.h"

#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "base/log.h"
#include "train/rng.h"

namespace hengshi::train {

namespace {

constexpr int64_t kFormat = 2;
// One for all: who could choose it might try until a threshold is certified.
constexpr uint64_t kOrderSeed = 1;

tl::unexpected<Error> wrong_state(std::string_view why) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("not a state of `hengshi calibrate`: {}", why));
}

bool is_share(double x) { return x > 0 && x < 1; }

bool same_rows(std::span<const uint64_t> keys, const std::vector<uint64_t>& run) {
  if (!std::binary_search(run.begin(), run.end(), keys.front())) return false;
  std::vector<uint64_t> sorted(keys.begin(), keys.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted == run;
}

}  // namespace

RiskStream::RiskStream(std::string model, double risk, double delta)
    : model_(std::move(model)), risk_(risk), delta_(delta), steps_(risk_steps(risk)), bettors_(steps_.size()) {}

// Without the earlier runs at their head or end: a file that has grown goes on with rows that were there before.
std::span<const uint64_t> RiskStream::fresh(std::span<const uint64_t> keys) const {
  for (bool less = true; less;) {
    less = false;
    for (const auto& run : runs_) {
      if (run.size() > keys.size()) continue;
      const size_t rest = keys.size() - run.size();
      const bool head = same_rows(keys.first(run.size()), run);
      if (!head && !same_rows(keys.last(run.size()), run)) continue;
      keys = head ? keys.last(rest) : keys.first(rest);
      less = true;
    }
  }
  return keys;
}

RiskStream::Added RiskStream::add(std::span<const Scored> rows, std::span<const uint64_t> keys) {
  const std::span<const uint64_t> counted = fresh(keys);
  Added out{keys.size() - counted.size(), 0};
  if (counted.empty()) return out;
  // A bettor wins on rows sorted by label or score what a fair sample would not give: the order must not tell.
  std::vector<size_t> order(counted.size());
  std::iota(order.begin(), order.end(), static_cast<size_t>(counted.data() - keys.data()));
  Rng rng(kOrderSeed);
  rng.shuffle(order);
  for (const size_t i : order) {
    bet(rows[i]);
    out.alike += known_.contains(keys[i]) ? 1 : 0;
  }
  known_.insert(counted.begin(), counted.end());
  auto& run = runs_.emplace_back(counted.begin(), counted.end());
  std::sort(run.begin(), run.end());
  return out;
}

size_t RiskStream::labels() const {
  return std::accumulate(runs_.begin(), runs_.end(), size_t{0},
                         [](size_t n, const auto& run) { return n + run.size(); });
}

void RiskStream::bet(const Scored& row) {
  if (row.refused) return;
  const bool wrong = !(row.right && row.in_scope);
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (row.confidence < steps_[i].threshold) continue;
    Bettor& one = bettors_[i];
    // The share expected from what went before; at the aim or above it nothing is staked.
    const double expected =
        std::min(risk_, (static_cast<double>(one.wrong) + risk_) / (static_cast<double>(one.answered) + 2));
    one.log_wealth += wrong ? std::log(expected / risk_) : std::log((1 - expected) / (1 - risk_));
    one.highest = std::max(one.highest, one.log_wealth);
    ++one.answered;
    one.wrong += wrong ? 1 : 0;
  }
}

std::optional<double> RiskStream::threshold() const {
  std::vector<bool> rejected(steps_.size());
  const auto last = last_certified(std::span<const RiskStep>(steps_), delta_, [&](size_t i, double level) {
    const Bettor& one = bettors_[i];
    rejected[i] =
        one.highest >= -std::log(level) && static_cast<double>(one.wrong) <= risk_ * static_cast<double>(one.answered);
    return rejected[i];
  });
  if (!last) return {};
  size_t chosen = *last;  // not laxer than the answered rows tell apart, as in certify()
  while (chosen > 0 && steps_[chosen].threshold < 1 - risk_ && rejected[chosen - 1] &&
         bettors_[chosen - 1].answered == bettors_[*last].answered) {
    --chosen;
  }
  return steps_[chosen].threshold;
}

std::string RiskStream::save() const {
  std::string out = fmt::format("{{\"format\":{},\"model\":", kFormat);
  append_json_string(out, model_);
  out += fmt::format(",\"risk\":{},\"delta\":{},\"steps\":[", risk_, delta_);
  for (size_t i = 0; i < bettors_.size(); ++i) {
    const Bettor& one = bettors_[i];
    out += fmt::format("{}[{},{},{},{}]", i > 0 ? "," : "", one.answered, one.wrong, one.log_wealth, one.highest);
  }
  out += "],\"runs\":[";
  for (const auto& run : runs_) out += fmt::format("{}[{}]", &run == runs_.data() ? "" : ",", fmt::join(run, ","));
  return out + "]}\n";
}

Result<RiskStream> RiskStream::restore(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) return wrong_state("it is not JSON");
  int64_t format = 0;
  std::string_view model;
  double risk = 0, delta = 0;
  simdjson::dom::array steps, runs;
  if (root["format"].get(format) != simdjson::SUCCESS || format != kFormat) {
    return wrong_state(fmt::format("its format is not {}; start another file", kFormat));
  }
  if (root["model"].get(model) != simdjson::SUCCESS || root["risk"].get(risk) != simdjson::SUCCESS ||
      root["delta"].get(delta) != simdjson::SUCCESS || root["steps"].get(steps) != simdjson::SUCCESS ||
      root["runs"].get(runs) != simdjson::SUCCESS) {
    return wrong_state("a key is missing or of the wrong type");
  }
  if (!is_share(risk) || !is_share(delta)) return wrong_state("risk and delta lie between 0 and 1");
  RiskStream out{std::string(model), risk, delta};
  for (const simdjson::dom::element run : runs) {
    auto& keys = out.runs_.emplace_back();
    simdjson::dom::array of;
    if (run.get(of) != simdjson::SUCCESS) return wrong_state("a run is no list of rows");
    for (const simdjson::dom::element key : of) {
      if (key.get(keys.emplace_back()) != simdjson::SUCCESS) return wrong_state("a row is no number");
    }
    if (keys.empty() || !std::is_sorted(keys.begin(), keys.end())) return wrong_state("a run cannot be");
    out.known_.insert(keys.begin(), keys.end());
  }
  if (steps.size() != out.bettors_.size()) return wrong_state("it has another number of steps");
  size_t i = 0;
  for (const simdjson::dom::element step : steps) {
    Bettor& one = out.bettors_[i++];
    uint64_t answered = 0, wrong = 0;
    if (step.at(0).get(answered) != simdjson::SUCCESS || step.at(1).get(wrong) != simdjson::SUCCESS ||
        step.at(2).get(one.log_wealth) != simdjson::SUCCESS || step.at(3).get(one.highest) != simdjson::SUCCESS) {
      return wrong_state("a step is not four numbers");
    }
    if (wrong > answered || answered > out.labels() || one.highest < one.log_wealth)
      return wrong_state("a step cannot be");
    one.answered = answered;
    one.wrong = wrong;
  }
  return out;
}

}  // namespace hengshi::train
