// risk_stream.h — the certified threshold while labels arrive one by one, right however often one looks.
//
// Shapes:  for each of risk_steps(): how many were answered and wrong, and the wealth of a bettor who wins when fewer
//          are wrong than the aim allows.
// Units:   risk and delta in [0, 1].
// Errors:  restore() says what of a saved state does not hold.
// Threads: one writer.
// Source:  docs/decisions/0010-risk-control.md; Waudby-Smith & Ramdas (arXiv 2010.09686); Ville's inequality.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "train/risk.h"

namespace hengshi::train {

class RiskStream {
 public:
  // `model` names what scores the rows: a state goes on with that alone.
  RiskStream(std::string model, double risk, double delta);

  void add(const Scored& row);  // of a fair sample of live questions
  size_t labels() const { return labels_; }
  const std::string& model() const { return model_; }
  double risk() const { return risk_; }
  double delta() const { return delta_; }

  // The laxest threshold certified so far; what was certified once stays so, for it was true then with 1 - delta.
  std::optional<double> threshold() const;

  std::string save() const;  // one line of JSON
  static Result<RiskStream> restore(std::string_view json);

 private:
  struct Bettor {
    size_t answered = 0, wrong = 0;
    double log_wealth = 0, highest = 0;
  };

  std::string model_;
  double risk_, delta_;
  size_t labels_ = 0;
  std::vector<RiskStep> steps_;
  std::vector<Bettor> bettors_;
};

}  // namespace hengshi::train
