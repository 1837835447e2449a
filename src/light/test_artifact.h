// test_artifact.h — a light model small enough to be written out in a test.
#pragma once

#include <vector>

#include "light/artifact.h"

namespace hengshi::light {

// Two intents and out of scope; the embedding's largest axis is the class.
inline Weights toy_weights() {
  Weights w;
  w.language = text::Language::kChinese;
  w.longest = 20;
  Grams grams;
  extract_grams("订单退款", w.language, grams);
  w.heads.intents = 2;
  w.heads.ngram.vocabulary = Vocabulary::fit(std::vector<Grams>{grams}, 100);
  w.heads.ngram.weights.assign(w.heads.ngram.vocabulary.size() * 3, 1);
  w.heads.ngram.scales.assign(w.heads.ngram.vocabulary.size(), 0.5F);
  w.heads.ngram.bias.assign(3, 0.0F);
  w.heads.encoder = {3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {0, 0, 0}, {8, 0, 0, 0, 8, 0, 0, 0, 8}, {0, 0, 0}};
  w.heads.examples = {3, {1, 0, 0, 0, 1, 0}, {0, 1, 2}, {127, 0, 0, 0, 127, 0}, {1 / 127.0F, 1 / 127.0F}};
  w.fusion = {0.0F, 1.0F};
  w.confidence.deviation.fill(1.0F);
  w.confidence.in_scope.bias = 20;
  w.confidence.in_scope.weight[2] = -4;  // the log-odds of "out of scope"
  w.confidence.right.weight[0] = 1;
  w.confidence.right.per_intent = {0.0F, 0.25F};
  return w;
}

inline std::vector<IntentAnswers> toy_answers() {
  return {{"order", {"订单 {order_id} 在路上。", "{order_id} 已发货。"}, {{"order_id", {R"(单号([A-Z]{2}\d{3}))"}}}},
          {"refund", {"七天内可以退款。", "请在订单页申请退款。"}, {}}};
}

inline Manifest toy_manifest() {
  return {"shop",   text::Language::kChinese,        "toy",
          "abc123", "2024-01-31T12:00:00Z",          "d1",
          7,        {0.8, 0.7, 0.95, "by \"hand\""}, {{"accuracy", 91.5}}};
}

}  // namespace hengshi::light
