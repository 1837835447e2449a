#include "light/weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>

namespace hengshi::light {

static_assert(std::endian::native == std::endian::little, "the file is little-endian and read as it lies");

namespace {

constexpr std::string_view kMagic = "HSLIGHT3";

struct Sizes {
  uint32_t language = 0, longest = 0, intents = 0, dim = 0, hidden = 0, vocabulary = 0, examples = 0;
  uint32_t of_scope = 0, of_right = 0;  // numbers per intent of the two regressions
};

struct Judge {
  Fusion fusion;
  Signals mean, deviation;
  Signals scope_weight, right_weight;
  float scope_bias, right_bias, slope, offset;
};
static_assert(std::is_trivially_copyable_v<Sizes> && std::is_trivially_copyable_v<Judge>);

template <typename T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

template <typename T>
void put(std::string& out, const std::vector<T>& values) {
  out.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

tl::unexpected<Error> wrong(std::string why) { return fail(ErrorCode::kInvalidRequest, std::move(why)); }

bool sane(const Sizes& s) {
  return s.language <= static_cast<uint32_t>(text::Language::kOther) && s.intents >= 1 && s.intents <= 1 << 16 &&
         s.dim >= 1 && s.dim <= 1 << 14 && s.hidden >= 1 && s.hidden <= 1 << 14 && s.vocabulary <= 1 << 22 &&
         s.examples <= 1 << 22 && (s.of_scope == 0 || s.of_scope == s.intents) &&
         (s.of_right == 0 || s.of_right == s.intents);
}

uint64_t bytes_needed(const Sizes& s) {
  const uint64_t classes = uint64_t{s.intents} + 1;
  const uint64_t ngram = s.vocabulary * (4 + 4 + classes + 4) + classes * 4;
  const uint64_t encoder = (uint64_t{s.dim} * s.hidden + s.hidden + s.hidden * classes + classes) * 4;
  const uint64_t examples = uint64_t{s.intents} * s.dim * 4 + classes * 4 + s.examples * (uint64_t{s.dim} + 4);
  return kMagic.size() + sizeof(Sizes) + sizeof(Judge) + ngram + encoder + examples +
         (uint64_t{s.of_scope} + s.of_right) * 4;
}

template <typename T>
void take(std::string_view& from, std::vector<T>& into, size_t count) {
  into.resize(count);
  from.copy(reinterpret_cast<char*>(into.data()), count * sizeof(T));
  from.remove_prefix(count * sizeof(T));
}

template <typename T>
T take(std::string_view& from) {
  T out;
  from.copy(reinterpret_cast<char*>(&out), sizeof out);
  from.remove_prefix(sizeof out);
  return out;
}

bool all_finite(const std::vector<float>& values) {
  return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

Result<void> check(const Weights& w) {
  const Examples& examples = w.heads.examples;
  const auto& hashes = w.heads.ngram.vocabulary.hashes();
  if (std::adjacent_find(hashes.begin(), hashes.end(), std::greater_equal<>()) != hashes.end()) {
    return wrong("its grams are not in order");
  }
  if (examples.starts.front() != 0 || examples.starts.back() != examples.scales.size() ||
      !std::is_sorted(examples.starts.begin(), examples.starts.end())) {
    return wrong("its examples do not belong to its intents");
  }
  const Confidence& c = w.confidence;
  std::vector<float> numbers = {w.fusion.ngram, w.fusion.encoder, c.in_scope.bias, c.right.bias, c.slope, c.offset};
  for (const Signals* one : {&c.mean, &c.deviation, &c.in_scope.weight, &c.right.weight})
    numbers.insert(numbers.end(), one->begin(), one->end());
  for (const Regression* one : {&c.in_scope, &c.right}) {
    numbers.insert(numbers.end(), one->per_intent.begin(), one->per_intent.end());
  }
  const NgramHead& ngram = w.heads.ngram;
  const EncoderHead& encoder = w.heads.encoder;
  for (const auto* values : std::initializer_list<const std::vector<float>*>{
           &numbers, &ngram.vocabulary.idf(), &ngram.scales, &ngram.bias, &encoder.w1, &encoder.b1, &encoder.w2,
           &encoder.b2, &examples.centroids, &examples.scales}) {
    if (!all_finite(*values)) return wrong("it holds a number that is not finite");
  }
  if (std::any_of(c.deviation.begin(), c.deviation.end(), [](float d) { return d <= 0; })) {
    return wrong("a signal has no deviation");
  }
  return {};
}

}  // namespace

std::string write_weights(const Weights& w) {
  const Heads& h = w.heads;
  const Sizes sizes{static_cast<uint32_t>(w.language),
                    w.longest,
                    static_cast<uint32_t>(h.intents),
                    static_cast<uint32_t>(h.encoder.dim),
                    static_cast<uint32_t>(h.encoder.hidden),
                    static_cast<uint32_t>(h.ngram.vocabulary.size()),
                    static_cast<uint32_t>(h.examples.scales.size()),
                    static_cast<uint32_t>(w.confidence.in_scope.per_intent.size()),
                    static_cast<uint32_t>(w.confidence.right.per_intent.size())};
  const Confidence& c = w.confidence;
  std::string out(kMagic);
  put(out, sizes);
  put(out, Judge{w.fusion, c.mean, c.deviation, c.in_scope.weight, c.right.weight, c.in_scope.bias, c.right.bias,
                 c.slope, c.offset});
  put(out, h.ngram.vocabulary.hashes());
  put(out, h.ngram.vocabulary.idf());
  put(out, h.ngram.weights);
  put(out, h.ngram.scales);
  put(out, h.ngram.bias);
  put(out, h.encoder.w1);
  put(out, h.encoder.b1);
  put(out, h.encoder.w2);
  put(out, h.encoder.b2);
  put(out, h.examples.centroids);
  put(out, h.examples.starts);
  put(out, h.examples.vectors);
  put(out, h.examples.scales);
  put(out, c.in_scope.per_intent);
  put(out, c.right.per_intent);
  return out;
}

Result<Weights> read_weights(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return wrong("it is not a weights file of format 3");
  if (bytes.size() < kMagic.size() + sizeof(Sizes) + sizeof(Judge)) return wrong("it is cut short");
  std::string_view rest = bytes.substr(kMagic.size());
  const auto s = take<Sizes>(rest);
  if (!sane(s)) return wrong("its sizes make no sense");
  if (bytes_needed(s) != bytes.size()) return wrong("its length does not fit its sizes");
  Weights w;
  const auto judge = take<Judge>(rest);
  w.language = static_cast<text::Language>(s.language);
  w.longest = s.longest;
  w.fusion = judge.fusion;
  w.confidence = {judge.mean,
                  judge.deviation,
                  {judge.scope_weight, judge.scope_bias, {}},
                  {judge.right_weight, judge.right_bias, {}},
                  judge.slope,
                  judge.offset};
  Heads& h = w.heads;
  h.intents = s.intents;
  h.encoder.dim = h.examples.dim = s.dim;
  h.encoder.hidden = s.hidden;
  const size_t classes = h.classes();
  std::vector<uint32_t> hashes;
  std::vector<float> idf;
  take(rest, hashes, s.vocabulary);
  take(rest, idf, s.vocabulary);
  h.ngram.vocabulary = Vocabulary(std::move(hashes), std::move(idf));
  take(rest, h.ngram.weights, s.vocabulary * classes);
  take(rest, h.ngram.scales, s.vocabulary);
  take(rest, h.ngram.bias, classes);
  take(rest, h.encoder.w1, size_t{s.dim} * s.hidden);
  take(rest, h.encoder.b1, s.hidden);
  take(rest, h.encoder.w2, s.hidden * classes);
  take(rest, h.encoder.b2, classes);
  take(rest, h.examples.centroids, size_t{s.intents} * s.dim);
  take(rest, h.examples.starts, classes);
  take(rest, h.examples.vectors, size_t{s.examples} * s.dim);
  take(rest, h.examples.scales, s.examples);
  take(rest, w.confidence.in_scope.per_intent, s.of_scope);
  take(rest, w.confidence.right.per_intent, s.of_right);
  TRY_OK(check(w));
  return w;
}

}  // namespace hengshi::light
