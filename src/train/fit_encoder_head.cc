#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "train/fit_heads.h"
#include "train/rng.h"

namespace hengshi::train {

namespace {

constexpr size_t kHidden = 512, kBatch = 64, kPasses = 20, kFewestSteps = 600;
constexpr float kRate = 2e-3F, kDecay = 0.3F, kSmoothing = 0.1F, kInputDropout = 0.1F, kDropout = 0.3F;
constexpr float kWarmUp = 0.05F;  // share of all steps

using Matrix = std::vector<float>;

struct Parameter {
  Matrix value, gradient, first, second;
  float decay = 0;

  Parameter(size_t size, float deviation, float weight_decay, Rng& rng)
      : value(size), gradient(size), first(size), second(size), decay(weight_decay) {
    if (deviation > 0) {
      for (float& x : value) x = deviation * rng.normal();
    }
  }

  void update(float rate, float first_correction, float second_correction) {
    for (size_t i = 0; i < value.size(); ++i) {
      first[i] += 0.1F * (gradient[i] - first[i]);
      second[i] += 0.001F * (gradient[i] * gradient[i] - second[i]);
      const float by = first[i] * first_correction / (std::sqrt(second[i] * second_correction) + 1e-8F);
      value[i] -= rate * (by + decay * value[i]);
    }
  }
};

void multiply(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, size_t m, size_t n, size_t k, const Matrix& a, const Matrix& b,
              Matrix& c) {
  const auto i = [](size_t x) { return static_cast<blasint>(x); };
  cblas_sgemm(CblasRowMajor, ta, tb, i(m), i(n), i(k), 1.0F, a.data(), i(ta == CblasNoTrans ? k : m), b.data(),
              i(tb == CblasNoTrans ? n : k), 0.0F, c.data(), i(n));
}

void sum_rows(const Matrix& from, size_t rows, Matrix& into) {
  std::fill(into.begin(), into.end(), 0.0F);
  for (size_t r = 0; r < rows; ++r) {
    for (size_t k = 0; k < into.size(); ++k) into[k] += from[r * into.size() + k];
  }
}

void add_bias(Matrix& to, size_t rows, const Matrix& bias) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t k = 0; k < bias.size(); ++k) to[r * bias.size() + k] += bias[k];
  }
}

class Perceptron {
 public:
  Perceptron(const Examples& train, size_t classes, uint64_t seed)
      : train_(train),
        classes_(classes),
        rng_(seed),
        input_scale_(std::sqrt(static_cast<float>(train.dim))),
        w1_(train.dim * kHidden, std::sqrt(2.0F / static_cast<float>(train.dim)), kDecay, rng_),
        b1_(kHidden, 0, 0, rng_),
        w2_(kHidden * classes, std::sqrt(1.0F / static_cast<float>(kHidden)), kDecay, rng_),
        b2_(classes, 0, 0, rng_) {}

  void fit() {
    std::vector<size_t> order(train_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const size_t per_pass = (order.size() + kBatch - 1) / kBatch;
    const size_t passes = std::max(passes_over(train_, kPasses), (kFewestSteps + per_pass - 1) / per_pass);
    steps_ = passes * per_pass;
    for (size_t pass = 0; pass < passes; ++pass) {
      rng_.shuffle(order);
      for (size_t at = 0; at < order.size(); at += kBatch) {
        step({&order[at], std::min(kBatch, order.size() - at)});
      }
    }
  }

  light::EncoderHead take() && {
    light::EncoderHead head;
    head.dim = train_.dim;
    head.hidden = kHidden;
    for (float& x : w1_.value) x *= input_scale_;
    head.w1 = std::move(w1_.value);
    head.b1 = std::move(b1_.value);
    head.w2 = std::move(w2_.value);
    head.b2 = std::move(b2_.value);
    return head;
  }

 private:
  void step(std::span<const size_t> rows) {
    forward(rows);
    loss_gradient(rows);
    backward(rows.size());
    ++done_;
    const auto t = static_cast<float>(done_), total = static_cast<float>(steps_);
    const float rate =
        kRate * std::min(1.0F, t / (kWarmUp * total)) * 0.5F * (1 + std::cos(std::numbers::pi_v<float> * t / total));
    const float first = 1 / (1 - std::pow(0.9F, t)), second = 1 / (1 - std::pow(0.999F, t));
    for (Parameter* one : {&w1_, &b1_, &w2_, &b2_}) one->update(rate, first, second);
  }

  void forward(std::span<const size_t> rows) {
    const size_t n = rows.size();
    input_.resize(n * train_.dim);
    for (size_t r = 0; r < n; ++r) {
      const auto from = train_.embedding(rows[r]);
      for (size_t i = 0; i < train_.dim; ++i) {
        input_[r * train_.dim + i] = from[i] * input_scale_ * keep(kInputDropout);
      }
    }
    inner_.resize(n * kHidden);
    multiply(CblasNoTrans, CblasNoTrans, n, kHidden, train_.dim, input_, w1_.value, inner_);
    add_bias(inner_, n, b1_.value);
    mask_.resize(inner_.size());
    for (size_t i = 0; i < inner_.size(); ++i) {
      mask_[i] = inner_[i] > 0 ? keep(kDropout) : 0.0F;
      inner_[i] *= mask_[i];
    }
    output_.resize(n * classes_);
    multiply(CblasNoTrans, CblasNoTrans, n, classes_, kHidden, inner_, w2_.value, output_);
    add_bias(output_, n, b2_.value);
  }

  void loss_gradient(std::span<const size_t> rows) {
    const auto n = static_cast<float>(rows.size());
    const float smooth = kSmoothing / static_cast<float>(classes_);
    for (size_t r = 0; r < rows.size(); ++r) {
      float* z = &output_[r * classes_];
      const float top = *std::max_element(z, z + classes_);
      float sum = 0;
      for (size_t k = 0; k < classes_; ++k) sum += z[k] = std::exp(z[k] - top);
      for (size_t k = 0; k < classes_; ++k) z[k] = (z[k] / sum - smooth) / n;
      z[train_.labels[rows[r]]] -= (1 - kSmoothing) / n;
    }
  }

  void backward(size_t n) {
    multiply(CblasTrans, CblasNoTrans, kHidden, classes_, n, inner_, output_, w2_.gradient);
    sum_rows(output_, n, b2_.gradient);
    inner_gradient_.resize(n * kHidden);
    multiply(CblasNoTrans, CblasTrans, n, kHidden, classes_, output_, w2_.value, inner_gradient_);
    for (size_t i = 0; i < inner_gradient_.size(); ++i) inner_gradient_[i] *= mask_[i];
    multiply(CblasTrans, CblasNoTrans, train_.dim, kHidden, n, input_, inner_gradient_, w1_.gradient);
    sum_rows(inner_gradient_, n, b1_.gradient);
  }

  float keep(float dropout) { return rng_.uniform() < dropout ? 0.0F : 1.0F / (1.0F - dropout); }

  const Examples& train_;
  size_t classes_, steps_ = 0, done_ = 0;
  Rng rng_;
  float input_scale_;  // unit vectors to unit variance
  Parameter w1_, b1_, w2_, b2_;
  Matrix input_, inner_, mask_, output_, inner_gradient_;
};

}  // namespace

light::EncoderHead fit_encoder_head(const Examples& train, const Task& task, uint64_t seed) {
  openblas_set_num_threads(1);  // the fits themselves run side by side, and one thread always adds in one order
  Perceptron perceptron(train, task.intents + 1, seed);
  perceptron.fit();
  return std::move(perceptron).take();
}

}  // namespace hengshi::train
