// risk_stream.h — the certified threshold while labels arrive run by run, right however often one looks.
//
// Shapes:  for each of risk_steps(): how many were answered and wrong, and the wealth of a bettor who wins when fewer
//          are wrong than the aim allows; of each run the keys of its rows, sorted.
// Units:   risk and delta in [0, 1].
// Errors:  restore() says what of a saved state does not hold.
// Threads: one writer.
// Source:  docs/decisions/0010-risk-control.md; Waudby-Smith & Ramdas (arXiv 2010.09686); Ville's inequality.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"
#include "train/risk.h"

namespace hengshi::train {

class RiskStream {
 public:
  // `model` names what scores the rows: a state goes on with that alone.
  RiskStream(std::string model, double risk, double delta);

  struct Added {
    size_t again = 0;  // rows that came with earlier runs, at the head or the end of this one: not counted
    size_t alike = 0;  // rows counted whose key an earlier run has too
  };
  // A run's rows, a fair sample of live questions, in any order; `keys` tell them apart. A question that is asked again is a
  // row of its own, for a sample without repeats would not be fair; an earlier run that is here whole, as in a file that
  // has grown, is not.
  Added add(std::span<const Scored> rows, std::span<const uint64_t> keys);
  size_t labels() const;  // counted
  const std::string& model() const { return model_; }
  double risk() const { return risk_; }
  double delta() const { return delta_; }

  // The laxest threshold certified so far. What was certified once stays so, for it was true then with 1 - delta, unless more
  // than the aim of all that were counted are wrong: then some rows were no fair sample.
  std::optional<double> threshold() const;

  std::string save() const;  // one line of JSON
  static Result<RiskStream> restore(std::string_view json);

 private:
  struct Bettor {
    size_t answered = 0, wrong = 0;
    double log_wealth = 0, highest = 0;
  };

  std::span<const uint64_t> fresh(std::span<const uint64_t> keys) const;
  void bet(const Scored& row);

  std::string model_;
  double risk_, delta_;
  std::vector<std::vector<uint64_t>> runs_;
  std::unordered_set<uint64_t> known_;  // of all runs
  std::vector<RiskStep> steps_;
  std::vector<Bettor> bettors_;
};

}  // namespace hengshi::train
