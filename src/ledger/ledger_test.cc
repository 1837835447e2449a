#include "ledger/ledger.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/log.h"
#include "base/test_folder.h"
#include "ledger/database.h"
#include "ledger/ledger_file.h"

namespace hengshi::ledger {
namespace {

class LedgerTest : public ::testing::Test {
 protected:
  LedgerTest() { std::filesystem::create_directories(folder_); }

  int64_t number(const char* sql) {
    auto database = Database::open(path_, Database::Mode::kWrite);
    return database ? database->number(sql).value_or(-1) : -1;
  }

  const TempFolder temp_;
  const std::string folder_ = temp_ / "of";
  const std::string path_ = folder_ + "/ledger.db";
  Metrics metrics_;
};

int64_t now_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

int64_t dropped(Metrics& metrics) {
  return metrics.counter("hengshi_fail_open_total", "Requests served without a part that failed", {{"part", "ledger"}})
      .value();
}

Record record(std::string id, std::string path = "cache.exact", int64_t total_us = 100) {
  Record out;
  out.at_us = now_us();
  out.request_id = std::move(id);
  out.path = std::move(path);
  out.total_us = total_us;
  return out;
}

TEST_F(LedgerTest, EveryFieldComesBack) {
  Record in = record("r1", "light", 1234);
  in.tenant = "acme";
  in.route = "default";
  in.model = "light.zh";
  in.versions = "rules=ab12";
  in.reasons = "semantic:number";
  in.language = "zh";
  in.intent = "reset_password";
  in.question = std::string("怎么\0重置", 13);
  in.answer = "按住电源键";
  in.status = 503;
  in.stream = true;
  in.confidence = 0.75;
  in.prompt_tokens = 1, in.completion_tokens = 2, in.cached_tokens = 3, in.saved_tokens = 4;
  in.estimated = true;
  in.cost_micro_usd = 5;
  in.parse_us = 6, in.exact_us = 7, in.encode_us = 8, in.semantic_us = 9, in.rules_us = 10, in.light_us = 11;
  in.upstream_us = 12, in.first_token_us = 13;
  auto ledger = Ledger::open({path_}, metrics_);
  ASSERT_TRUE(ledger) << ledger.error().message;
  (*ledger)->append(in);
  (*ledger)->flush();
  const auto read = tail(path_, 0, 10);  // beside the open writer
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->records.size(), 1U);
  const Record& out = read->records[0];
  EXPECT_EQ(read->last_row, 1);
  EXPECT_EQ(out.at_us, in.at_us);
  EXPECT_EQ(out.request_id, "r1");
  EXPECT_EQ(out.tenant, "acme");
  EXPECT_EQ(out.route, "default");
  EXPECT_EQ(out.path, "light");
  EXPECT_EQ(out.model, "light.zh");
  EXPECT_EQ(out.versions, "rules=ab12");
  EXPECT_EQ(out.reasons, "semantic:number");
  EXPECT_EQ(out.language, "zh");
  EXPECT_EQ(out.intent, "reset_password");
  EXPECT_EQ(out.question, in.question);
  EXPECT_EQ(out.answer, "按住电源键");
  EXPECT_EQ(out.status, 503);
  EXPECT_TRUE(out.stream);
  EXPECT_EQ(out.confidence, 0.75);
  EXPECT_EQ(out.threshold, std::nullopt);
  EXPECT_EQ(out.prompt_tokens, 1);
  EXPECT_EQ(out.completion_tokens, 2);
  EXPECT_EQ(out.cached_tokens, 3);
  EXPECT_EQ(out.saved_tokens, 4);
  EXPECT_TRUE(out.estimated);
  EXPECT_EQ(out.cost_micro_usd, 5);
  EXPECT_EQ(out.parse_us, 6);
  EXPECT_EQ(out.exact_us, 7);
  EXPECT_EQ(out.encode_us, 8);
  EXPECT_EQ(out.semantic_us, 9);
  EXPECT_EQ(out.rules_us, 10);
  EXPECT_EQ(out.light_us, 11);
  EXPECT_EQ(out.upstream_us, 12);
  EXPECT_EQ(out.first_token_us, 13);
  EXPECT_EQ(out.total_us, 1234);
}

TEST_F(LedgerTest, ClosingWritesWhatIsQueued) {
  {
    auto ledger = Ledger::open({path_}, metrics_);
    ASSERT_TRUE(ledger);
    for (int i = 0; i < 2000; ++i) (*ledger)->append(record("r" + std::to_string(i)));
  }
  EXPECT_EQ(number("SELECT count(*) FROM requests"), 2000);
  EXPECT_EQ(dropped(metrics_), 0);
}

TEST_F(LedgerTest, ManyThreadsAppendAndNoneIsLost) {
  auto ledger = Ledger::open({path_}, metrics_);
  ASSERT_TRUE(ledger);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) (*ledger)->append(record("x"));
      (*ledger)->flush();
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(number("SELECT count(*) FROM requests"), 4000);
}

TEST_F(LedgerTest, TailFollows) {
  auto ledger = Ledger::open({path_}, metrics_);
  ASSERT_TRUE(ledger);
  for (int i = 1; i <= 5; ++i) (*ledger)->append(record("r" + std::to_string(i)));
  (*ledger)->flush();
  const auto last = tail(path_, 0, 2);
  ASSERT_TRUE(last);
  ASSERT_EQ(last->records.size(), 2U);
  EXPECT_EQ(last->records[0].request_id, "r4");
  EXPECT_EQ(last->records[1].request_id, "r5");
  (*ledger)->append(record("r6"));
  (*ledger)->flush();
  const auto more = tail(path_, last->last_row, 10);
  ASSERT_TRUE(more);
  ASSERT_EQ(more->records.size(), 1U);
  EXPECT_EQ(more->records[0].request_id, "r6");
  EXPECT_EQ(tail(path_, more->last_row, 10)->records.size(), 0U);
}

TEST_F(LedgerTest, StatsByPath) {
  auto ledger = Ledger::open({path_}, metrics_);
  ASSERT_TRUE(ledger);
  for (int64_t i = 1; i <= 100; ++i) (*ledger)->append(record("x", "cache.exact", i * 1000));
  Record cloud = record("y", "cloud", 900'000);
  cloud.cost_micro_usd = 70;
  for (int i = 0; i < 25; ++i) (*ledger)->append(cloud);
  Record old = record("z", "rule");
  old.at_us -= int64_t{3600} * 1'000'000;
  (*ledger)->append(old);
  (*ledger)->flush();
  const auto out = stats(path_, std::chrono::minutes(10));
  ASSERT_TRUE(out) << out.error().message;
  ASSERT_EQ(out->size(), 2U);
  EXPECT_EQ((*out)[0].path, "cache.exact");
  EXPECT_DOUBLE_EQ((*out)[0].share, 0.8);
  EXPECT_DOUBLE_EQ((*out)[0].mean_ms, 50.5);
  EXPECT_DOUBLE_EQ((*out)[0].p50_ms, 50);
  EXPECT_DOUBLE_EQ((*out)[0].p95_ms, 95);
  EXPECT_DOUBLE_EQ((*out)[0].p99_ms, 99);
  EXPECT_EQ((*out)[1].cost_micro_usd, 1750);
}

TEST_F(LedgerTest, OpensAgainAndGoesOn) {
  for (int i = 0; i < 2; ++i) {
    auto ledger = Ledger::open({path_}, metrics_);
    ASSERT_TRUE(ledger) << ledger.error().message;
    (*ledger)->append(record("r"));
  }
  EXPECT_EQ(tail(path_, 0, 10)->records.size(), 2U);
}

TEST_F(LedgerTest, RefusesAnotherVersionWithTheCommandToRun) {
  {
    ASSERT_TRUE(Ledger::open({path_}, metrics_));
  }
  number("PRAGMA user_version = 99");
  const auto ledger = Ledger::open({path_}, metrics_);
  ASSERT_FALSE(ledger);
  EXPECT_NE(ledger.error().message.find("has schema version 99"), std::string::npos) << ledger.error().message;
  EXPECT_NE(ledger.error().message.find("mv " + path_), std::string::npos);
  EXPECT_FALSE(stats(path_, std::chrono::hours(1)));
}

TEST_F(LedgerTest, RefusesAnotherProgramsFile) {
  number("CREATE TABLE requests (id)");
  const auto ledger = Ledger::open({path_}, metrics_);
  ASSERT_FALSE(ledger);
  EXPECT_NE(ledger.error().message.find("is not a hengshi ledger"), std::string::npos);
}

TEST_F(LedgerTest, SaysWhichFileCannotBeOpened) {
  const auto ledger = Ledger::open({"/proc/none/ledger.db"}, metrics_);
  ASSERT_FALSE(ledger);
  EXPECT_NE(ledger.error().message.find("/proc/none/ledger.db"), std::string::npos);
  EXPECT_NE(ledger.error().message.find("set [ledger] path"), std::string::npos) << ledger.error().message;
  EXPECT_FALSE(tail(path_, 0, 1));
}

TEST_F(LedgerTest, AFullQueueDropsAndCounts) {
  auto ledger = Ledger::open({path_}, metrics_);
  ASSERT_TRUE(ledger);
  auto other = Database::open(path_, Database::Mode::kWrite);
  ASSERT_TRUE(other->run("BEGIN IMMEDIATE"));  // The writer waits for this lock.
  constexpr int kRecords = 50'000;
  for (int i = 0; i < kRecords; ++i) (*ledger)->append(record("r"));
  ASSERT_TRUE(other->run("ROLLBACK"));
  (*ledger)->flush();
  EXPECT_GT(dropped(metrics_), 0);
  EXPECT_EQ(number("SELECT count(*) FROM requests"), kRecords - dropped(metrics_));
}

TEST_F(LedgerTest, AFileThatWasMovedOrDeletedIsMadeAnew) {
  auto ledger = *Ledger::open({path_}, metrics_);
  const auto write = [&](const char* id) {
    ledger->append(record(id));
    ledger->flush();
  };
  write("before");
  const int64_t seen = tail(path_, 0, 1)->last_row;
  std::filesystem::rename(path_, folder_ + "/moved.db");
  write("after the move");
  EXPECT_EQ(tail(path_, seen + 7, 9)->records.at(0).request_id, "after the move");  // A follower starts over.
  std::filesystem::remove(path_);
  write("after the deletion");
  std::filesystem::remove_all(folder_);
  write("after all was deleted");
  EXPECT_EQ(tail(path_, 0, 9)->records.at(0).request_id, "after all was deleted");
  std::filesystem::rename(folder_, folder_ + ".gone");
  std::ofstream(folder_) << "a file where the folder was";
  write("lost");
  write("lost too");
  EXPECT_EQ(dropped(metrics_), 2);
  std::filesystem::remove(folder_);
  std::filesystem::remove_all(folder_ + ".gone");
  write("there again");
  EXPECT_EQ(tail(path_, 0, 9)->records.size(), 1U);
  EXPECT_EQ(metrics_.counter("hengshi_ledger_renewed_total", "").value(), 4);
}

TEST_F(LedgerTest, WhatWasMovedAwayIsWhole) {
  auto ledger = *Ledger::open({path_}, metrics_);
  for (int i = 0; i < 1000; ++i) ledger->append(record("moved"));
  ledger->flush();
  std::filesystem::rename(path_, folder_ + "/moved.db");
  ledger->append(record("new"));
  ledger->flush();
  const auto moved = tail(folder_ + "/moved.db", 0, 9999);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->records.size(), 1000U);
  EXPECT_EQ(tail(path_, 0, 9)->records.size(), 1U);
  EXPECT_EQ(dropped(metrics_), 0);
}

TEST_F(LedgerTest, OldRowsAreDeletedAFewAtATime) {
  constexpr int kOld = 1200;
  Record old = record("old");
  old.at_us -= int64_t{31} * 86'400 * 1'000'000;
  Record young = record("young");
  young.at_us -= int64_t{29} * 86'400 * 1'000'000;
  {
    auto ledger = *Ledger::open({path_}, metrics_);
    for (int i = 0; i < kOld; ++i) ledger->append(old);
    ledger->append(young);
    ledger->flush();
    EXPECT_EQ(number("SELECT count(*) FROM requests"), kOld + 1);  // Kept for ever unless told otherwise.
  }
  auto ledger = *Ledger::open({path_, 30}, metrics_);
  for (int round = 0; round < 3; ++round) {  // Each takes 512 of them at most.
    ledger->append(record("new"));
    ledger->flush();
  }
  EXPECT_EQ(number("SELECT count(*) FROM requests WHERE request_id = 'old'"), 0);
  EXPECT_EQ(number("SELECT count(*) FROM requests"), 4);
}

TEST_F(LedgerTest, TheOldestRowsGoFirstAndTheNewestStaysSoThatNumbersGrow) {
  auto file = *LedgerFile::open(path_);
  std::vector<Record> rows;
  for (const int64_t at_us : {3, 1, 2, 9}) rows.emplace_back().at_us = at_us;
  ASSERT_TRUE(file.insert(rows));
  EXPECT_EQ(file.erase_before(3, 1), 1);
  EXPECT_EQ(number("SELECT min(at_us) FROM requests"), 2);
  EXPECT_EQ(file.erase_before(100, 100), 2);
  EXPECT_EQ(file.erase_before(100, 100), 0);
  EXPECT_EQ(tail(path_, 0, 9)->last_row, 4);
}

// RLIMIT_FSIZE makes every write past the limit fail, as a full disk does.
int fill_the_disk_and_free_it(const std::string& path) {
  signal(SIGXFSZ, SIG_IGN);
  set_log_level(LogLevel::kOff);
  Metrics metrics;
  auto ledger = Ledger::open({path}, metrics);
  if (!ledger) return 1;
  rlimit limit{};
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = rlim_t{256} << 10;
  setrlimit(RLIMIT_FSIZE, &limit);
  constexpr int kRecords = 5000;
  for (int i = 0; i < kRecords; ++i) (*ledger)->append(record("full"));
  (*ledger)->flush();
  const int64_t lost = dropped(metrics);
  if (lost == 0) return 2;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
  (*ledger)->append(record("space again"));
  (*ledger)->flush();
  if (dropped(metrics) != lost) return 3;
  const auto read = tail(path, 0, 2 * kRecords);
  if (!read) return 4;
  if (read->records.back().request_id != "space again") return 5;
  return static_cast<int64_t>(read->records.size()) == kRecords - lost + 1 ? 0 : 6;
}

TEST_F(LedgerTest, AFullDiskDropsAndCountsAndRecovers) {
  const pid_t child = fork();
  if (child == 0) _exit(fill_the_disk_and_free_it(path_));
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  EXPECT_EQ(number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

TEST_F(LedgerTest, AKillLosesNothingFlushed) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    Metrics metrics;
    auto ledger = Ledger::open({path_}, metrics);
    for (int i = 0; i < 1000; ++i) (*ledger)->append(record("flushed"));
    (*ledger)->flush();
    (void)!write(ready[1], "x", 1);
    while (true) {
      (*ledger)->append(record("in flight"));
      (*ledger)->flush();
    }
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  auto ledger = Ledger::open({path_}, metrics_);
  ASSERT_TRUE(ledger) << ledger.error().message;
  (*ledger)->append(record("after"));
  (*ledger)->flush();
  EXPECT_EQ(number("SELECT count(*) FROM requests WHERE request_id = 'flushed'"), 1000);
  EXPECT_EQ(number("SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
  EXPECT_EQ(tail(path_, 0, 1)->records[0].request_id, "after");
}

}  // namespace
}  // namespace hengshi::ledger
