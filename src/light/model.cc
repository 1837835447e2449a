#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/check.h"
#include "light/artifact.h"
#include "light/light.h"
#include "light/opinion.h"
#include "nn/embedding_cache.h"
#include "nn/encoder.h"

namespace hengshi::light {

namespace {

class TrainedModel final : public Model {
 public:
  TrainedModel(Artifact artifact, std::unique_ptr<const nn::Encoder> encoder)
      : artifact_(std::move(artifact)), encoder_(std::move(encoder)) {}

  Verdict ask(std::string_view question, std::span<const float> embedding, uint64_t key) const override {
    const Weights& w = artifact_.weights;
    thread_local std::vector<float> own;
    if (encoder_ != nullptr) {
      own.resize(encoder_->dim());
      encoder_->encode(question, own);
      embedding = own;
    }
    CHECK(embedding.size() == w.heads.encoder.dim, "the artifact's encoder is checked when it is put to use");
    const Opinion opinion = form_opinion(w, text::normalise(question), embedding);
    Verdict verdict;
    verdict.intent = artifact_.answers.name(opinion.intent);
    verdict.confidence = opinion.confidence;
    verdict.threshold = artifact_.manifest.threshold.value;
    verdict.floor = artifact_.manifest.threshold.floor;
    if (!opinion.refused_because.empty()) return refused(std::move(verdict), opinion.refused_because);
    auto reply = artifact_.answers.answer(opinion.intent, question, key);
    if (!reply) return refused(std::move(verdict), "missing_slot");
    verdict.answer = std::move(reply->text);
    verdict.asks = reply->asks;
    return verdict;
  }

  text::Language language() const override { return artifact_.weights.language; }
  const std::string& name() const override { return artifact_.manifest.pack; }
  const std::string& version() const override { return artifact_.version; }
  const std::string& encoder_version() const override { return artifact_.manifest.encoder_version; }
  bool has_own_encoder() const override { return encoder_ != nullptr; }
  size_t intents() const override { return artifact_.answers.size(); }
  const Threshold& threshold() const override { return artifact_.manifest.threshold; }

 private:
  static Verdict refused(Verdict verdict, std::string_view because) {
    verdict.refused = true;
    verdict.refused_because = because;
    return verdict;
  }

  Artifact artifact_;
  std::unique_ptr<const nn::Encoder> encoder_;  // its own; null: the shared one's vectors come with the question
};

Result<std::unique_ptr<const nn::Encoder>> own_encoder(const std::string& folder, const Artifact& artifact) {
  if (!artifact.manifest.own_encoder) return nullptr;
  TRY(auto loaded, nn::Encoder::load(folder + "/encoder"));
  auto encoder = nn::with_embedding_cache(std::move(loaded));
  const bool fits =
      encoder->version() == artifact.manifest.encoder_version && encoder->dim() == artifact.weights.heads.encoder.dim;
  if (fits) return encoder;
  return fail(ErrorCode::kInvalidRequest,
              folder + "/encoder: the manifest is of another encoder; train it again with `hengshi train`", folder);
}

}  // namespace

std::string Threshold::in_words() const { return never() ? "never" : fmt::format("{:.3f}", value); }

Result<std::shared_ptr<const Model>> Model::load(const std::string& folder) {
  TRY(Artifact artifact, read_artifact(folder));
  TRY(auto encoder, own_encoder(folder, artifact));
  return std::make_shared<const TrainedModel>(std::move(artifact), std::move(encoder));
}

}  // namespace hengshi::light
