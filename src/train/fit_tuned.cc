#include "train/fit_tuned.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/digest.h"
#include "train/embed.h"
#include "train/progress.h"
#include "train/rng.h"
#include "tune/base_model.h"
#include "tune/dice.h"
#include "tune/write_model.h"

namespace hengshi::train {

namespace {

constexpr size_t kFolds = 2;        // of train, where dev is too small: each is a tuning of its own
constexpr size_t kManyRows = 5000;  // from which few passes are enough
constexpr size_t kFewPasses = 4, kPasses = 7;

tune::TuneOptions tune_options(size_t rows, const FitOptions& options, const TuneSettings& settings) {
  tune::TuneOptions out;
  out.seed = options.seed;
  out.passes = settings.passes > 0 ? settings.passes : rows >= kManyRows ? kFewPasses : kPasses;
  out.adam.rate = static_cast<float>(settings.rate);
  out.lora = settings.lora;
  out.checkpoint_every = settings.checkpoint_every;
  return out;
}

tune::ClassOptions class_options(const tune::BaseModel& base, const Task& task) {
  return {
      .classes = task.intents + 1, .dim = base.config().bert.hidden, .diverse = static_cast<uint32_t>(task.intents)};
}

// Token ids of the rows that are wanted.
struct Ids {
  std::vector<uint32_t> labels;
  std::vector<std::string> texts;
  std::vector<std::vector<int32_t>> ids;

  tune::LabelledIds view() const {
    return {labels, [this](size_t row, size_t) { return ids[row]; }};
  }

  // Every second row with an error in it, in the next pass the others.
  tune::LabelledIds view(const nn::Encoder& encoder, const Noise& noise, uint64_t seed) const {
    return {labels, [this, &encoder, &noise, seed](size_t row, size_t pass) {
              if (pass == 0 || (row + pass) % 2 == 0) return ids[row];
              Rng rng(tune::roll(tune::roll(seed, row), pass));
              return encoder.tokenize(noise.corrupt(texts[row], 1, NoiseMix::kAll, rng));
            }};
  }
};

// Noisy copies are no rows here: tuning has its own.
Ids ids_of(const nn::Encoder& encoder, const Examples& rows, auto&& wanted) {
  Ids out;
  for (size_t i = 0; i < rows.originals(); ++i) {
    if (!wanted(i)) continue;
    out.labels.push_back(rows.labels[i]);
    out.texts.push_back(rows.texts[i]);
    out.ids.push_back(encoder.tokenize(rows.texts[i]));
  }
  return out;
}

std::string note_of(const tune::TuneProgress& at) {
  const auto left = static_cast<int>(at.seconds_left);
  std::string out =
      fmt::format("loss {:.3f}, {:.1f} % right, {}:{:02} left", at.loss, at.accuracy, left / 60, left % 60);
  if (at.last != nullptr && at.last->accuracy > 0) out += fmt::format("; held out {:.1f} %", at.last->accuracy);
  return out;
}

struct Set {
  std::string folder;
  std::unique_ptr<const nn::Encoder> encoder;
  light::EncoderHead head;
  Examples train, dev;
  std::vector<tune::Validation> history;
};

light::EncoderHead light_head(tune::ClassTask::Head head, size_t dim) {
  light::EncoderHead out;
  out.dim = dim;
  out.hidden = head.hidden;
  out.w1 = std::move(head.w1);
  out.b1 = std::move(head.b1);
  out.w2 = std::move(head.w2);
  out.b2 = std::move(head.b2);
  return out;
}

class Tuner {
 public:
  Tuner(const tune::BaseModel& base, const nn::Encoder& frozen, const Task& task, const FitOptions& options,
        const TuneSettings& settings)
      : base_(base), frozen_(frozen), task_(task), options_(options), settings_(settings) {}

  Result<Set> tune_set(const std::string& name, const Ids& train, const Ids& validation) const {
    tune::Layout layout(base_.config().bert);
    tune::ClassTask head(class_options(base_, task_));
    head.lay_out(layout);
    tune::TuneOptions options = tune_options(train.labels.size(), options_, settings_);
    options.checkpoint = fmt::format("{}/{}-{}.checkpoint", settings_.work, name, run_of(train));
    if (options_.progress) {
      fmt::print(stderr, "tuning {}: {} questions, {} passes, up to {} MB of memory\n", name, train.labels.size(),
                 options.passes, tune::memory_plan(base_, layout, options) >> 20);
    }
    std::optional<Progress> bar;
    const auto show = [&](const tune::TuneProgress& at) {
      if (!bar) bar.emplace("tuning " + name, at.steps, options_.progress);
      bar->reach(at.step, note_of(at));
    };
    const tune::LabelledIds rows =
        options_.noise != nullptr ? train.view(frozen_, *options_.noise, options_.seed) : train.view();
    TRY(auto tuned, tune::tune(base_, layout, head, rows, validation.view(), options, show));
    Set out;
    out.folder = settings_.work + "/" + name;
    out.head = light_head(head.head(tuned.parameters), base_.config().bert.hidden);
    out.history = std::move(tuned.history);
    TRY_OK(tune::write_model(base_, layout, tuned.parameters, base_.config().manifest.name + "-tuned", out.folder));
    TRY(out.encoder, nn::Encoder::load(out.folder));
    return out;
  }

 private:
  // Tells the checkpoint of this run from one of other questions or settings.
  std::string run_of(const Ids& train) const {
    std::string all = fmt::format("{} {} {} {} {} {} {}", frozen_.version(), options_.seed, settings_.passes,
                                  settings_.rate, settings_.lora, task_.intents, options_.noise != nullptr);
    for (size_t i = 0; i < train.labels.size(); ++i) {
      all += fmt::format("\n{}", train.labels[i]);
      for (const int32_t id : train.ids[i]) all += fmt::format(" {}", id);
    }
    return sha256_hex(all).substr(0, 12);
  }

  const tune::BaseModel& base_;
  const nn::Encoder& frozen_;
  const Task& task_;
  const FitOptions& options_;
  const TuneSettings& settings_;
};

}  // namespace

Result<TunedFit> fit_tuned_model(const Examples& train, const Examples& dev, const Task& task,
                                 const FitOptions& options, const TuneSettings& settings) {
  TRY(const tune::BaseModel base, tune::BaseModel::open(settings.base));
  TRY(const auto frozen, nn::Encoder::load(settings.base));
  std::error_code error;
  std::filesystem::create_directories(settings.work, error);
  if (error) return fail(ErrorCode::kInvalidRequest, settings.work + ": " + error.message(), settings.work);
  const Tuner tuner(base, *frozen, task, options, settings);
  const Split split = split_for_judge(train, dev, task, kFolds, options);
  // Where dev judges it also tells when to stop; a fold is too dear for that, and the number of passes is set.
  const Ids validation = ids_of(*frozen, dev, [&](size_t) { return split.folds == 0; });
  std::vector<Set> sets;
  for (size_t s = 0; s <= split.folds; ++s) {
    const Ids rows = ids_of(*frozen, train, [&](size_t i) { return split.trains(s, i, train.labels[i]); });
    const std::string name = s == split.folds ? "encoder" : fmt::format("fold-{}", s + 1);
    TRY(Set set, tuner.tune_set(name, rows, validation));
    // Noisy copies need no vectors: tuning brings its own head, and no judge sees them.
    set.train = embed_again(*set.encoder, train, train.originals(), options.progress);
    set.dev = embed_again(*set.encoder, dev, dev.size(), options.progress);
    sets.push_back(std::move(set));
  }
  std::vector<View> views;
  views.reserve(sets.size());
  for (const Set& set : sets) views.push_back({&set.train, &set.dev, &set.head});
  TunedFit out{fit_model(split, views, task, options), nullptr, {}, {}};
  out.encoder = std::move(sets.back().encoder);
  out.folder = sets.back().folder;
  out.history = std::move(sets.back().history);
  return out;
}

void clear_work(const std::string& work) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  std::vector<fs::path> gone;
  for (const auto& entry : fs::directory_iterator(work, ignored)) {
    const std::string name = entry.path().filename().string();
    const bool checkpoint = name.find(".checkpoint") != name.npos;  // or one that was being written
    if (checkpoint || name == "encoder" || name.starts_with("fold-")) gone.push_back(entry.path());
  }
  for (const fs::path& path : gone) fs::remove_all(path, ignored);
  fs::remove(work, ignored);  // where nothing else is in it
}

}  // namespace hengshi::train
