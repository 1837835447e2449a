#include "gateway/embeddings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <mutex>

#include "gateway/test_gateway.h"

namespace hengshi::gateway {
namespace {

// Keeps what it was asked to encode, and lets a test hold it up at its first text.
class HeldEncoder final : public nn::Encoder {
 public:
  const std::string& name() const override { return name_; }
  const std::string& version() const override { return name_; }
  bool verified() const override { return true; }
  size_t dim() const override { return 64; }
  size_t max_tokens() const override { return 16; }
  size_t vocabulary() const override { return 100; }
  double semantic_threshold() const override { return 0.9; }
  size_t memory_bytes() const override { return 0; }
  std::vector<int32_t> tokenize(std::string_view) const override { return {1}; }
  size_t count_tokens(std::string_view) const override { return 1; }
  void encode(std::string_view text, std::span<float> out) const override {
    open_.wait();
    std::fill(out.begin(), out.end(), 0.125F);
    const std::lock_guard lock(mutex_);
    seen_.emplace_back(text);
  }
  void encode_ids(std::span<const int32_t>, std::span<float> out) const override { encode("ids", out); }

  void open() { gate_.set_value(); }
  std::vector<std::string> seen() const {
    const std::lock_guard lock(mutex_);
    return seen_;
  }

 private:
  std::string name_ = "held";
  std::promise<void> gate_;
  std::shared_future<void> open_ = gate_.get_future().share();
  mutable std::mutex mutex_;
  mutable std::vector<std::string> seen_;
};

class Embeddings : public TestGateway {
 protected:
  Embeddings() {
    auto with = std::make_shared<Snapshot>(*snapshot_);
    with->own(text::Language::kEnglish).encoder = encoder_;
    snapshots_->swap(with);
  }
  std::unique_ptr<RecordedExchange> embed(std::string_view input) {
    const std::string body = R"({"model":"held","input":)" + std::string(input) + "}";
    return begin(body, {}, "/v1/embeddings");
  }
  void run() {
    loop_.restart();
    loop_.run();
  }

  std::shared_ptr<HeldEncoder> encoder_ = std::make_shared<HeldEncoder>();
};

TEST_F(Embeddings, AQuestionDoesNotWaitForTheTextsOfOthers) {
  std::vector<std::unique_ptr<RecordedExchange>> big;
  big.reserve(4);
  for (int i = 0; i < 4; ++i) big.push_back(embed(R"(["a","b","c","d","e","f"])"));
  const auto question = begin(ask("why are routers square"));
  boost::asio::post(loop_, [this] { encoder_->open(); });  // Behind all of them: each waits for the pool by then.
  run();
  const auto seen = encoder_->seen();
  ASSERT_EQ(seen.size(), 4U * 6 + 1);
  const auto at = std::find(seen.begin(), seen.end(), "why are routers square");
  EXPECT_LE(at - seen.begin(), 1);  // Behind the one text that may have been under way.
  for (const auto& one : big) EXPECT_EQ(one->status, 200);
}

TEST_F(Embeddings, WhoeverLeavesIsNotWorkedFor) {
  const auto big = embed(R"(["a","b","c","d","e","f"])");
  boost::asio::post(loop_, [&] {
    ASSERT_TRUE(big->gone);
    big->gone();
  });
  run();
  encoder_->open();
  EXPECT_EQ(big->status, 0);
  const auto all = records();
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].status, 499);
  EXPECT_EQ(all[0].path, "embeddings");
  EXPECT_LE(encoder_->seen().size(), 1U);
}

TEST_F(Embeddings, ATokenOutsideTheVocabularyIsRefusedByItsPlace) {
  encoder_->open();
  const auto bad = embed("[[1,2],[3,100]]");
  const auto good = embed("[[1,2],[3,99]]");
  run();
  EXPECT_EQ(bad->status, 400);
  EXPECT_NE(bad->body.find(R"("param":"input[1][1]")"), std::string::npos) << bad->body;
  EXPECT_EQ(good->status, 200);
}

}  // namespace
}  // namespace hengshi::gateway
