#include "tune/tune.h"

#include <cblas.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <memory>
#include <numeric>

#include "tune/checkpoint.h"
#include "tune/dice.h"
#include "tune/low_rank.h"
#include "tune/network.h"
#include "tune/workers.h"

namespace hengshi::tune {

namespace {

constexpr uint64_t kOrderStream = 0x6f72646572, kDropStream = 0x64726f70, kStartStream = 0x7374617274,
                   kThinStream = 0x7468696e;

// A mini-batch, dealt to the workers so that both have as many tokens: longest first, there and back.
struct Dealt {
  std::array<Packed, kWorkers> parts;
  std::array<size_t, kWorkers> count = {};
  std::vector<uint32_t> labels;  // the first worker's, then the second's
};

void deal(std::span<const uint32_t> rows, const LabelledIds& from, size_t pass, size_t max_tokens, Dealt& out) {
  std::vector<std::vector<int32_t>> ids(rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    ids[i] = from.ids(rows[i], pass);
    if (ids[i].size() > max_tokens) {  // the last token closes the text
      ids[i][max_tokens - 1] = ids[i].back();
      ids[i].resize(max_tokens);
    }
  }
  std::vector<size_t> order(rows.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return ids[a].size() != ids[b].size() ? ids[a].size() > ids[b].size() : a < b; });
  out.labels.clear();
  for (size_t w = 0; w < kWorkers; ++w) {
    out.parts[w].clear();
    for (size_t i = 0; i < order.size(); ++i) {
      const bool second = i % 4 == 1 || i % 4 == 2;
      if (second != (w == 1)) continue;
      out.parts[w].add(ids[order[i]]);
      out.labels.push_back(from.labels[rows[order[i]]]);
    }
    out.count[w] = out.parts[w].sequences();
  }
}

class Run {
 public:
  Run(const BaseModel& base, const Layout& layout, Task& task, const LabelledIds& train, const LabelledIds& validation,
      const TuneOptions& options, std::vector<float> base_parameters)
      : options_(options),
        task_(task),
        train_(train),
        validation_(validation),
        dim_(base.config().bert.hidden),
        networks_{Network(base, layout), Network(base, layout)},
        per_pass_((train.labels.size() + options.batch - 1) / options.batch),
        steps_(per_pass_ * options.passes),
        weights_(started(std::move(base_parameters), layout, task, options.seed)),
        low_rank_(options.lora > 0 ? std::make_unique<const LowRank>(layout, options.lora, weights_) : nullptr),
        adam_(low_rank_ ? low_rank_->layout() : layout, options.adam) {
    for (auto& gradient : gradients_) gradient.resize(layout.size);
    if (!low_rank_) return;
    thin_ = low_rank_->start(roll(options.seed, kThinStream));
    thin_gradient_.resize(thin_.size());
  }

  Result<Tuned> run(const std::function<void(const TuneProgress&)>& on_progress) {
    const bool kept = !options_.checkpoint.empty();
    const Digest digest = kept ? run_digest() : Digest{};
    if (kept) TRY_OK(resume(digest));
    const auto start = std::chrono::steady_clock::now();
    const uint64_t first = at_.step;
    while (at_.step < steps_ && at_.worse < options_.patience) {
      TRY_OK(take(++at_.step));
      if (at_.step % per_pass_ == 0) at_.worse = validate(at_.step) ? 0 : at_.worse + 1;
      const bool last = at_.step == steps_ || at_.worse >= options_.patience;
      if (kept && (last || at_.step % options_.checkpoint_every == 0)) {
        TRY_OK(write_checkpoint(options_.checkpoint, digest,
                                {at_, history_, trained(), adam_.first(), adam_.second(), best_}));
      }
      if (on_progress) on_progress(progress(first, start));
    }
    if (!validation_.labels.empty()) trained() = std::move(best_);
    if (low_rank_) low_rank_->expand(thin_, weights_);
    return Tuned{std::move(weights_), std::move(history_), steps_, at_.best_step};
  }

 private:
  static std::vector<float> started(std::vector<float> parameters, const Layout& layout, const Task& task,
                                    uint64_t seed) {
    parameters.resize(layout.size);
    task.start(parameters, roll(seed, kStartStream));
    return parameters;
  }

  Result<void> take(size_t step) {
    const size_t pass = (step - 1) / per_pass_ + 1, at = (step - 1) % per_pass_ * options_.batch;
    if (pass != ordered_) {
      order_.resize(train_.labels.size());
      std::iota(order_.begin(), order_.end(), 0U);
      shuffle(order_, roll(roll(options_.seed, kOrderStream), pass));
      ordered_ = pass;
    }
    const auto rows = std::span<const uint32_t>(order_).subspan(at, std::min(options_.batch, order_.size() - at));
    deal(rows, train_, pass, options_.max_tokens, dealt_);
    const uint64_t stream = roll(roll(options_.seed, kDropStream), step);
    std::array<Dropping, kWorkers> dropping;
    for (size_t w = 0; w < kWorkers; ++w) dropping[w] = {options_.dropout, roll(stream, w)};
    encode(dropping);
    d_embeddings_.resize(embeddings_.size());
    both([&](size_t w) { std::fill(gradients_[w].begin(), gradients_[w].end(), 0.0F); });
    const Outcome outcome =
        task_.learn(weights_.data(), {embeddings_, dealt_.labels}, {options_.dropout, roll(stream, kWorkers)},
                    d_embeddings_, gradients_[0].data());
    both([&](size_t w) {
      if (dealt_.count[w] == 0) return;
      const std::span<float> d(&d_embeddings_[w == 0 ? 0 : dealt_.count[0] * dim_], dealt_.count[w] * dim_);
      networks_[w].backward(weights_.data(), dealt_.parts[w], dropping[w], d, gradients_[w].data());
    });
    const double length = learn(step);
    if (!std::isfinite(outcome.loss) || !std::isfinite(length)) {
      return fail(ErrorCode::kInternal,
                  fmt::format("training: the loss is no longer finite at step {} of {}; lower the learning rate (now "
                              "{:g})",
                              step, steps_, options_.adam.rate));
    }
    at_.loss += outcome.loss;
    at_.right += outcome.right;
    at_.seen += rows.size();
    return {};
  }

  // Answers the length of the gradient.
  double learn(size_t step) {
    const float share = rate_share(step, steps_, options_.warm_up);
    if (!low_rank_) return adam_.step(weights_, gradients_[0], gradients_[1], step, share);
    add_to(gradients_[1].data(), gradients_[1].size(), gradients_[0].data());
    low_rank_->carry_over(thin_, gradients_[0], thin_gradient_);
    const double length = adam_.step(thin_, thin_gradient_, {}, step, share);
    low_rank_->expand(thin_, weights_);
    return length;
  }

  void encode(const std::array<Dropping, kWorkers>& dropping) {
    embeddings_.resize(dealt_.labels.size() * dim_);
    both([&](size_t w) {
      if (dealt_.count[w] == 0) return;
      const auto out = networks_[w].forward(weights_.data(), dealt_.parts[w], dropping[w]);
      std::copy(out.begin(), out.end(), embeddings_.begin() + static_cast<long>(w == 0 ? 0 : dealt_.count[0] * dim_));
    });
  }

  // What a checkpoint must have been made with to be gone on from.
  Digest run_digest() const {
    const TuneOptions& o = options_;
    std::string all = fmt::format("{} {} {} {} {} {} {} {} {} {} {} {} {}", o.lora, o.seed, o.passes, o.batch,
                                  o.max_tokens, o.dropout, o.warm_up, o.patience, o.adam.rate, o.adam.layer_decay,
                                  o.adam.head_factor, o.adam.weight_decay, o.adam.longest);
    const auto append = [&](const auto& values) {
      all.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
    };
    append(weights_);  // the base model's, and the head's start
    for (const LabelledIds* rows : {&train_, &validation_}) {
      append(rows->labels);
      for (size_t i = 0; i < rows->labels.size(); ++i) append(rows->ids(i, 0));
    }
    return digest(all);
  }

  Result<void> resume(const Digest& digest) {
    TRY(auto found, read_checkpoint(options_.checkpoint, digest, trained().size()));
    if (!found) return {};
    at_ = found->counters;
    history_ = std::move(found->history);
    trained() = std::move(found->parameters);
    if (low_rank_) low_rank_->expand(thin_, weights_);
    best_ = std::move(found->best);
    std::copy(found->first.begin(), found->first.end(), adam_.first().begin());
    std::copy(found->second.begin(), found->second.end(), adam_.second().begin());
    return {};
  }

  // Whether it is the best so far.
  bool validate(size_t step) {
    Validation now{step, at_.loss / static_cast<double>(std::max<uint64_t>(at_.seen, 1)), 0, 0};
    at_.loss = 0;
    at_.seen = at_.right = 0;
    const size_t n = validation_.labels.size();
    Outcome sum;
    std::vector<uint32_t> rows;
    for (size_t at = 0; at < n; at += options_.batch) {
      rows.resize(std::min(options_.batch, n - at));
      std::iota(rows.begin(), rows.end(), static_cast<uint32_t>(at));
      deal(rows, validation_, 0, options_.max_tokens, dealt_);
      encode({});
      const Outcome one = task_.test(weights_.data(), {embeddings_, dealt_.labels});
      sum.loss += one.loss;
      sum.right += one.right;
    }
    if (n > 0) {
      now.loss = sum.loss / static_cast<double>(n);
      now.accuracy = 100 * static_cast<double>(sum.right) / static_cast<double>(n);
    }
    history_.push_back(now);
    if (n > 0 && !best_.empty() && now.loss >= at_.best_loss) return false;
    if (n > 0) best_ = trained();
    at_.best_loss = now.loss;
    at_.best_step = step;
    return true;
  }

  // What is learnt: the weights themselves, or the thin matrices that they are made of.
  std::vector<float>& trained() { return low_rank_ ? thin_ : weights_; }

  TuneProgress progress(uint64_t first, std::chrono::steady_clock::time_point start) const {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const double n = static_cast<double>(std::max<uint64_t>(at_.seen, 1));
    return {at_.step,
            steps_,
            at_.loss / n,
            100 * static_cast<double>(at_.right) / n,
            seconds / static_cast<double>(at_.step - first) * static_cast<double>(steps_ - at_.step),
            history_.empty() ? nullptr : &history_.back()};
  }

  const TuneOptions& options_;
  Task& task_;
  const LabelledIds& train_;
  const LabelledIds& validation_;
  size_t dim_;
  std::array<Network, kWorkers> networks_;
  size_t per_pass_, steps_, ordered_ = 0;
  Counters at_;
  std::vector<uint32_t> order_;
  Dealt dealt_;
  std::vector<float> weights_, thin_, thin_gradient_, best_, embeddings_, d_embeddings_;
  std::unique_ptr<const LowRank> low_rank_;
  AdamW adam_;
  std::array<std::vector<float>, kWorkers> gradients_;
  std::vector<Validation> history_;
};

// What the system would give without swapping; without an answer, no bound.
size_t memory_available() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  for (size_t value = 0; file >> key >> value; file.ignore(64, '\n')) {
    if (key == "MemAvailable:") return value << 10;
  }
  return std::numeric_limits<size_t>::max();
}

}  // namespace

size_t memory_plan(const BaseModel& base, const Layout& layout, const TuneOptions& options) {
  const size_t copies = 6;  // weights, the best, two gradients, two moments; thin matrices need fewer
  const size_t rows = options.batch * options.max_tokens;
  return copies * layout.size * sizeof(float) + Network::bytes(base.config().bert, rows, options.max_tokens);
}

Result<Tuned> tune(const BaseModel& base, const Layout& layout, Task& task, const LabelledIds& train,
                   const LabelledIds& validation, const TuneOptions& options,
                   const std::function<void(const TuneProgress&)>& on_progress) {
  const size_t wanted = memory_plan(base, layout, options), there = memory_available();
  if (wanted > there) {
    return fail(ErrorCode::kInternal,
                fmt::format("training: it needs up to {} MB of memory and {} MB are free; lower the batch",
                            wanted >> 20, there >> 20));
  }
  openblas_set_num_threads(1);  // the workers are the threads, and one thread always adds in one order
  TRY(std::vector<float> parameters, base.parameters(layout));
  Run run(base, layout, task, train, validation, options, std::move(parameters));
  return run.run(on_progress);
}

}  // namespace hengshi::tune
