#include "light/history.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "light/light.h"
#include "light/test_artifact.h"

namespace hengshi::light {
namespace {

namespace fs = std::filesystem;

class HistoryTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("light_history_test." + std::to_string(::getpid()));
    folder_ = (root_ / "shop" / "zh").string();
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string write(uint64_t seed) {
    Manifest manifest = toy_manifest();
    manifest.seed = seed;
    const auto written = write_artifact(folder_, manifest, toy_weights(), toy_answers());
    EXPECT_TRUE(written) << written.error().message;
    return written ? written->version : "";
  }
  std::string in_use() {
    const auto model = Model::load(folder_);
    return model ? (*model)->version() : model.error().message;
  }
  std::vector<std::string> versions() {
    std::vector<std::string> out;
    const auto all = list_artifacts(folder_);
    for (const auto& one : *all) out.push_back(one.version);
    return out;
  }

  fs::path root_;
  std::string folder_;
};

TEST_F(HistoryTest, TrainingAgainKeepsWhatWasThere) {
  const std::string first = write(1), second = write(2), third = write(3);
  EXPECT_EQ(versions(), (std::vector{third, second, first}));
  const auto all = *list_artifacts(folder_);
  EXPECT_TRUE(all[0].in_use);
  EXPECT_FALSE(all[1].in_use);
  EXPECT_EQ(all[1].created, "2024-01-31T12:00:00Z");
  EXPECT_DOUBLE_EQ(all[1].accuracy, 91.5);
}

TEST_F(HistoryTest, GoesBackAndForthInOneStep) {
  const std::string first = write(1), second = write(2);
  EXPECT_EQ(*restore_artifact(folder_, ""), first);
  EXPECT_EQ(in_use(), first);
  EXPECT_EQ(versions(), (std::vector{first, second}));
  EXPECT_EQ(*restore_artifact(folder_ + "/", second), second);
  EXPECT_EQ(in_use(), second);
  EXPECT_EQ(versions(), (std::vector{second, first}));
}

TEST_F(HistoryTest, ForgetsTheOldestBeyondFive) {
  std::vector<std::string> written;
  for (uint64_t seed = 1; seed <= 8; ++seed) written.insert(written.begin(), write(seed));
  written.resize(6);
  EXPECT_EQ(versions(), written);
}

TEST_F(HistoryTest, WhatServedLastIsForgottenLast) {
  std::vector<std::string> written;
  for (uint64_t seed = 1; seed <= 6; ++seed) written.push_back(write(seed));
  ASSERT_TRUE(restore_artifact(folder_, written[0]));  // the oldest serves again …
  write(7);                                            // … and is replaced
  EXPECT_EQ(*restore_artifact(folder_, ""), written[0]);
}

TEST_F(HistoryTest, WithoutAPlaceToKeepItTheOlderOneStays) {
  const std::string first = write(1);
  std::ofstream(folder_ + ".versions") << "a file";
  Manifest manifest = toy_manifest();
  manifest.seed = 2;
  const auto second = write_artifact(folder_ + "/", manifest, toy_weights(), toy_answers());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(".versions"), std::string::npos) << second.error().message;
  EXPECT_EQ(in_use(), first);
}

TEST_F(HistoryTest, TheSameArtifactIsKeptOnce) {
  const std::string first = write(1);
  write(1);
  EXPECT_EQ(versions(), (std::vector{first}));
  const std::string second = write(2);
  write(1);
  EXPECT_EQ(versions(), (std::vector{first, second}));
  EXPECT_EQ(*restore_artifact(folder_, ""), second);
  EXPECT_EQ(versions(), (std::vector{second, first}));
}

TEST_F(HistoryTest, NeverPutsBackWhatDoesNotRead) {
  const std::string first = write(1), second = write(2);
  std::ofstream(folder_ + ".versions/" + first + "/weights.bin") << "torn";
  const auto restored = restore_artifact(folder_, first);
  ASSERT_FALSE(restored);
  EXPECT_NE(restored.error().message.find("weights.bin"), std::string::npos) << restored.error().message;
  EXPECT_EQ(in_use(), second);
}

TEST_F(HistoryTest, AVersionThatIsNotThereNamesThoseThatAre) {
  EXPECT_NE(restore_artifact(folder_, "").error().message.find("expected is the folder"), std::string::npos);
  const std::string only = write(1);
  EXPECT_NE(restore_artifact(folder_, "").error().message.find("no earlier version"), std::string::npos);
  write(2);
  const auto missing = restore_artifact(folder_, "0123456789ab");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_NE(missing.error().message.find(only), std::string::npos) << missing.error().message;
}

TEST_F(HistoryTest, APinStaysWithItsVersion) {
  const std::string first = write(1);
  EXPECT_EQ(*artifact_folder(folder_), folder_);
  EXPECT_EQ(*artifact_folder(folder_ + "@" + first), folder_);
  write(2);
  const auto pinned = artifact_folder(folder_ + "@" + first);
  ASSERT_TRUE(pinned) << pinned.error().message;
  EXPECT_EQ((*Model::load(*pinned))->version(), first);
  EXPECT_FALSE(artifact_folder(folder_ + "@0123456789ab"));
  EXPECT_EQ(*artifact_folder("/home/me@work/demo/zh"), "/home/me@work/demo/zh");
}

TEST_F(HistoryTest, ATunedEncoderTravelsInsideAndIsChecked) {
  const fs::path model = root_ / "tuned";
  fs::create_directories(model / "1_Pooling");
  std::ofstream(model / "model.safetensors") << "weights";
  std::ofstream(model / "1_Pooling" / "config.json") << "{}";
  const auto written = write_artifact(folder_, toy_manifest(), toy_weights(), toy_answers(), model.string());
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(read_artifact(folder_)->manifest.own_encoder);
  EXPECT_TRUE(fs::exists(folder_ + "/encoder/1_Pooling/config.json"));
  const auto threshold = write_threshold(folder_, {0.5, 0.4, 0.9, "by hand", true}, "2024-02-29T12:00:00Z");
  ASSERT_TRUE(threshold) << threshold.error().message;
  EXPECT_TRUE(read_artifact(folder_)->manifest.own_encoder);
  const auto all = *list_artifacts(folder_);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_TRUE(all[0].tuned && all[0].threshold.calibrated && all[1].tuned && !all[1].threshold.calibrated);
  EXPECT_EQ(all[0].created, "2024-02-29T12:00:00Z");
  EXPECT_EQ(all[1].created, "2024-01-31T12:00:00Z");
  EXPECT_GT(artifact_bytes(folder_), artifact_bytes(folder_ + "/encoder"));
  std::ofstream(folder_ + "/encoder/model.safetensors") << "others";
  const auto changed = read_artifact(folder_);
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().message.find("encoder/model.safetensors"), std::string::npos) << changed.error().message;
  EXPECT_FALSE(write_artifact(folder_, toy_manifest(), toy_weights(), toy_answers(), (root_ / "none").string()));
}

}  // namespace
}  // namespace hengshi::light
