#include <utility>

#include "base/check.h"
#include "light/artifact.h"
#include "light/light.h"
#include "light/opinion.h"

namespace hengshi::light {

namespace {

class TrainedModel final : public Model {
 public:
  explicit TrainedModel(Artifact artifact) : artifact_(std::move(artifact)) {}

  Verdict ask(std::string_view question, std::span<const float> embedding, uint64_t key) const override {
    const Weights& w = artifact_.weights;
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
  size_t intents() const override { return artifact_.answers.size(); }

 private:
  static Verdict refused(Verdict verdict, std::string_view because) {
    verdict.refused = true;
    verdict.refused_because = because;
    return verdict;
  }

  Artifact artifact_;
};

}  // namespace

Result<std::shared_ptr<const Model>> Model::load(const std::string& folder) {
  TRY(Artifact artifact, read_artifact(folder));
  return std::make_shared<const TrainedModel>(std::move(artifact));
}

}  // namespace hengshi::light
