#include "nn/encoder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "nn/reference_bert.h"
#include "nn/test_model.h"

namespace hengshi::nn {
namespace {

const std::vector<CpuLevel>& levels() {
  static const std::vector<CpuLevel> all = [] {
    std::vector<CpuLevel> out;
    for (const CpuLevel level : {CpuLevel::kPlain, CpuLevel::kAvx2, CpuLevel::kAvx512Vnni}) {
      if (level <= detect_cpu()) out.push_back(level);
    }
    return out;
  }();
  return all;
}

double cosine(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

std::vector<float> encode(const Encoder& encoder, std::string_view text) {
  std::vector<float> out(encoder.dim());
  encoder.encode(text, out);
  return out;
}

std::vector<float> encode_ids(const Encoder& encoder, std::span<const int32_t> ids) {
  std::vector<float> out(encoder.dim());
  encoder.encode_ids(ids, out);
  return out;
}

std::vector<float> reference(const std::string& folder, std::span<const int32_t> ids) {
  const auto config = *read_model_config(folder);
  const auto file = *MappedFile::open(folder + "/model.safetensors");
  const auto tensors = *Safetensors::parse(file.bytes(), "model");
  return ReferenceBert(config.bert, config.pooling, tensors).forward(ids);
}

TEST(EncoderTest, EqualsTheReferenceOnEveryLevelWithEitherPooling) {
  const TestFolder folder;
  const std::vector<int32_t> ids = {2, 5, 6, 4, 13, 9, 22, 10, 11, 12, 31, 0, 30, 15, 17, 3};
  for (const bool cls : {true, false}) {
    folder.pooling(cls);
    for (const CpuLevel level : levels()) {
      const auto encoder = Encoder::load(folder.path(), level);
      ASSERT_TRUE(encoder.has_value()) << encoder.error().message;
      for (const size_t n : std::vector<size_t>{1, 2, 5, 9, 16}) {
        const auto some = std::span(ids).first(n);
        const auto vector = encode_ids(**encoder, some);
        EXPECT_GT(cosine(vector, reference(folder.path(), some)), 0.999) << cpu_level_name(level) << " " << n;
        EXPECT_NEAR(cosine(vector, vector), 1, 1e-5);
      }
    }
  }
}

TEST(EncoderTest, AVectorDoesNotDependOnWhatWasEncodedBefore) {
  const TestFolder folder;
  const auto encoder = *Encoder::load(folder.path());
  const auto first = encode(*encoder, "reset my router?");
  encode(*encoder, "unaffable 路由器 my my my my my my my my my my my my my my");
  encode(*encoder, "");
  EXPECT_EQ(encode(*encoder, "reset my router?"), first);
  std::vector<std::vector<float>> seen(4);
  std::vector<std::thread> threads;
  threads.reserve(seen.size());
  for (size_t i = 0; i < seen.size(); ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        encode(*encoder, i % 2 == 0 ? "路由器" : "my my my");
        seen[i] = encode(*encoder, "reset my router?");
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& vector : seen) EXPECT_EQ(vector, first);
}

TEST(EncoderTest, IsTotal) {
  const TestFolder folder;
  const auto encoder = *Encoder::load(folder.path());
  EXPECT_EQ(encoder->max_tokens(), 20U);
  std::string huge;
  for (int i = 0; i < 1000; ++i) huge += "router ";
  for (const std::string& text : {std::string(), std::string("\xff\xfe"), huge}) {
    const auto vector = encode(*encoder, text);
    EXPECT_NEAR(cosine(vector, vector), 1, 1e-5);
  }
  EXPECT_EQ(encoder->tokenize(huge).size(), 20U);
  EXPECT_EQ(encoder->tokenize(huge).back(), 3);
  EXPECT_EQ(encoder->count_tokens(huge), 1000U);
  const std::vector<int32_t> strange = {2, -1, 1'000'000, 3};
  const std::vector<int32_t> mended = {2, 1, 1, 3};
  EXPECT_EQ(encode_ids(*encoder, strange), encode_ids(*encoder, mended));
  EXPECT_EQ(encode_ids(*encoder, {}), encode_ids(*encoder, std::vector<int32_t>{1}));
}

TEST(EncoderTest, TheManifestNamesIt) {
  const TestFolder folder;
  folder.write("hengshi.json", R"({"name":"little","max_tokens":8,"semantic_threshold":0.77,"lowercase":true})");
  const auto encoder = *Encoder::load(folder.path());
  EXPECT_EQ(encoder->name(), "little");
  EXPECT_EQ(encoder->max_tokens(), 8U);
  EXPECT_DOUBLE_EQ(encoder->semantic_threshold(), 0.77);
  EXPECT_EQ(encoder->version().size(), 12U);
  EXPECT_EQ(encoder->dim(), 64U);
  EXPECT_GT(encoder->memory_bytes(), 1000U);
  EXPECT_EQ(encoder->vocabulary(), 32U);
  EXPECT_EQ(encoder->tokenize("CAFÉ"), encoder->tokenize("cafe"));
}

TEST(EncoderTest, WeightsThatNoManifestVouchesForAreSaidToBeUnchecked) {
  const TestFolder folder;
  testing::internal::CaptureStderr();
  auto encoder = *Encoder::load(folder.path());
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_FALSE(encoder->verified());
  const std::string mark = R"("sha256":")";
  ASSERT_NE(told.find(R"("event":"model_unchecked")"), std::string::npos) << told;
  ASSERT_NE(told.find(mark), std::string::npos) << told;
  const std::string sha256 = told.substr(told.find(mark) + mark.size(), 64);
  folder.write("hengshi.json", R"({"sha256":")" + sha256 + R"("})");
  testing::internal::CaptureStderr();
  encoder = *Encoder::load(folder.path());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(encoder->verified());
}

std::string load_error(const TestFolder& folder) {
  const auto made = Encoder::load(folder.path());
  return made ? "accepted" : made.error().message;
}

void expect_error(const TestFolder& folder, const std::string& file, const std::string& why) {
  const std::string told = load_error(folder);
  EXPECT_NE(told.find(folder.path() + "/" + file), std::string::npos) << told;
  EXPECT_NE(told.find(why), std::string::npos) << told;
}

TEST(EncoderTest, ABrokenConfigIsRefusedWithItsFileAndReason) {
  const TestFolder folder;
  for (const auto& [config, why] : std::vector<std::pair<std::string, std::string>>{
           {"{", "no JSON object"},
           {test_config("roberta"), "model_type \"roberta\" is not supported"},
           {test_config("bert", 16), "it has 24 ids, config.json's vocab_size is 16"},
           {test_config("bert", 30), "has shape [32, 64], config.json asks for [30, 64]"},
           {test_config("bert", 2'000'000), "config.json asks for [2000000, 64]"},
           {R"({"model_type":"bert","vocab_size":32})", "hidden_size must be a whole number"},
       }) {
    folder.write("config.json", config);
    EXPECT_NE(load_error(folder).find(why), std::string::npos) << load_error(folder);
  }
  folder.write("config.json", test_config());
  folder.write("hengshi.json", R"({"max_tokens":900})");
  expect_error(folder, "hengshi.json", "max_tokens must lie between 3 and 20");
  folder.write("hengshi.json", R"({"sha256":"00"})");
  expect_error(folder, "model.safetensors", "hengshi.json says 00; run scripts/setup");
  folder.write("hengshi.json", "{}");
  folder.write("1_Pooling/config.json", R"({"pooling_mode_max_tokens":true})");
  expect_error(folder, "1_Pooling/config.json", "exactly one");
}

TEST(EncoderTest, BrokenWeightsAreRefusedWithTheirFileAndReason) {
  const TestFolder folder;
  const auto with = [&](const std::function<void(TestTensors&)>& spoil) {
    TestTensors tensors = test_tensors();
    spoil(tensors);
    folder.write("model.safetensors", safetensors_bytes(tensors));
  };
  with([](TestTensors& t) { t.erase("encoder.layer.1.output.dense.weight"); });
  expect_error(folder, "model.safetensors", "tensor encoder.layer.1.output.dense.weight is missing");
  with([](TestTensors& t) { t["encoder.layer.0.attention.self.key.bias"].shape = {8, 8}; });
  expect_error(folder, "model.safetensors", "has shape [8, 8], config.json asks for [64]");
  with([](TestTensors& t) {
    t["encoder.layer.0.intermediate.dense.weight"].values[77] = std::numeric_limits<float>::quiet_NaN();
  });
  expect_error(folder, "model.safetensors", "intermediate.dense.weight holds a value that is not finite");
  folder.write("model.safetensors", safetensors_bytes(test_tensors()).substr(0, 20'000));
  expect_error(folder, "model.safetensors", "truncated");
  folder.write("model.safetensors", "");
  expect_error(folder, "model.safetensors", "empty");
}

TEST(EncoderTest, MissingFilesAreNamed) {
  for (const std::string file : {"config.json", "tokenizer.json", "model.safetensors"}) {
    const TestFolder folder;
    std::filesystem::remove(folder.path() + "/" + file);
    expect_error(folder, file, "run scripts/setup");
  }
  const TestFolder folder;
  folder.write("config.json", test_config("bert", 20));
  TestTensors tensors = test_tensors();
  tensors["embeddings.word_embeddings.weight"] = {{20, 64}, std::vector<float>(size_t{20} * 64, 1)};
  folder.write("model.safetensors", safetensors_bytes(tensors));
  expect_error(folder, "tokenizer.json", "has 24 ids, config.json's vocab_size is 20");
}

struct Golden {  // the first dimensions of the fp32 reference's vector, computed in numpy from the same weights
  const char* model;
  const char* text;
  std::vector<float> head;
};

const std::vector<Golden>& goldens() {
  static const std::vector<Golden> all = {
      {"bge-small-zh-v1.5", "我的路由器怎么连不上网？", {0.01629F, 0.00876F, 0.0267F, 0.04481F, 0.04742F, -0.02894F}},
      {"bge-small-zh-v1.5", "iPhone连不上WiFi", {-0.00178F, 0.03177F, 0.00818F, -0.02924F, 0.00801F, -0.04186F}},
      {"bge-small-zh-v1.5",
       "请帮我把闹钟改到明天早上七点半",
       {0.02238F, 0.04878F, 0.03765F, 0.01791F, 0.05204F, -0.02166F}},
      {"bge-small-zh-v1.5",
       "Ｗｉ－Ｆｉ密码：１２３４５６",
       {-0.03075F, 0.03845F, 0.08592F, 0.00384F, -0.02946F, 0.00153F}},
      {"all-minilm-l6-v2",
       "How do I reset my router?",
       {-0.00414F, -0.00961F, -0.03105F, 0.0302F, -0.01087F, 0.02282F}},
      {"all-minilm-l6-v2",
       "The printer won't connect to Wi-Fi",
       {-0.0317F, 0.04385F, -0.04619F, 0.04754F, -0.01647F, 0.01102F}},
      {"all-minilm-l6-v2",
       "Crème brûlée à la française",
       {0.01262F, -0.03448F, 0.00913F, -0.06719F, -0.03174F, 0.04047F}},
      {"all-minilm-l6-v2",
       "İstanbul 東京 😭 unaffable",
       {0.08913F, 0.05148F, 0.04516F, 0.03655F, -0.04023F, -0.01567F}},
  };
  return all;
}

std::string models() {
  const char* const told = std::getenv("HENGSHI_MODELS");
  return told != nullptr ? told : std::string(HENGSHI_SOURCE_DIR) + "/models";
}

TEST(EncoderTest, ShippedModelsEqualTheirReferenceOnEveryLevel) {
  for (const std::string name : {"bge-small-zh-v1.5", "all-minilm-l6-v2"}) {
    const std::string folder = models() + "/" + name;
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "skipped: no models";
    std::vector<std::unique_ptr<const Encoder>> encoders;
    for (const CpuLevel level : levels()) {
      auto encoder = Encoder::load(folder, level);
      ASSERT_TRUE(encoder.has_value()) << encoder.error().message;
      encoders.push_back(*std::move(encoder));
      EXPECT_EQ(encoders.back()->name(), name);
    }
    for (const Golden& golden : goldens()) {
      if (golden.model != name) continue;
      const auto expected = reference(folder, encoders[0]->tokenize(golden.text));
      for (size_t i = 0; i < golden.head.size(); ++i) EXPECT_NEAR(expected[i], golden.head[i], 2e-5F) << golden.text;
      for (size_t level = 0; level < encoders.size(); ++level) {
        const auto vector = encode(*encoders[level], golden.text);
        EXPECT_GE(cosine(vector, expected), 0.999) << golden.text << " " << cpu_level_name(levels()[level]);
        for (size_t i = 0; i < golden.head.size(); ++i) EXPECT_NEAR(vector[i], golden.head[i], 6e-3F) << golden.text;
      }
    }
  }
}

}  // namespace
}  // namespace hengshi::nn
