#include "train/risk_stream.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "base/log.h"

namespace hengshi::train {

namespace {

constexpr int64_t kFormat = 1;

tl::unexpected<Error> wrong_state(std::string_view why) {
  return fail(ErrorCode::kInvalidRequest, fmt::format("not a state of `hengshi calibrate`: {}", why));
}

bool is_share(double x) { return x > 0 && x < 1; }

}  // namespace

RiskStream::RiskStream(std::string model, double risk, double delta)
    : model_(std::move(model)), risk_(risk), delta_(delta), steps_(risk_steps(risk)), bettors_(steps_.size()) {}

void RiskStream::add(const Scored& row) {
  ++labels_;
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
    rejected[i] = bettors_[i].highest >= -std::log(level);
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
  out += fmt::format(",\"risk\":{},\"delta\":{},\"labels\":{},\"steps\":[", risk_, delta_, labels_);
  for (size_t i = 0; i < bettors_.size(); ++i) {
    const Bettor& one = bettors_[i];
    out += fmt::format("{}[{},{},{},{}]", i > 0 ? "," : "", one.answered, one.wrong, one.log_wealth, one.highest);
  }
  return out + "]}\n";
}

Result<RiskStream> RiskStream::restore(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  if (parser.parse(json.data(), json.size()).get(root) != simdjson::SUCCESS) return wrong_state("it is not JSON");
  int64_t format = 0;
  std::string_view model;
  double risk = 0, delta = 0;
  uint64_t labels = 0;
  simdjson::dom::array steps;
  if (root["format"].get(format) != simdjson::SUCCESS || format != kFormat) return wrong_state("its format is not 1");
  if (root["model"].get(model) != simdjson::SUCCESS || root["risk"].get(risk) != simdjson::SUCCESS ||
      root["delta"].get(delta) != simdjson::SUCCESS || root["labels"].get(labels) != simdjson::SUCCESS ||
      root["steps"].get(steps) != simdjson::SUCCESS) {
    return wrong_state("a key is missing or of the wrong type");
  }
  if (!is_share(risk) || !is_share(delta)) return wrong_state("risk and delta lie between 0 and 1");
  RiskStream out{std::string(model), risk, delta};
  out.labels_ = labels;
  if (steps.size() != out.bettors_.size()) return wrong_state("it has another number of steps");
  size_t i = 0;
  for (const simdjson::dom::element step : steps) {
    Bettor& one = out.bettors_[i++];
    uint64_t answered = 0, wrong = 0;
    if (step.at(0).get(answered) != simdjson::SUCCESS || step.at(1).get(wrong) != simdjson::SUCCESS ||
        step.at(2).get(one.log_wealth) != simdjson::SUCCESS || step.at(3).get(one.highest) != simdjson::SUCCESS) {
      return wrong_state("a step is not four numbers");
    }
    if (wrong > answered || answered > labels || one.highest < one.log_wealth) return wrong_state("a step cannot be");
    one.answered = answered;
    one.wrong = wrong;
  }
  return out;
}

}  // namespace hengshi::train
