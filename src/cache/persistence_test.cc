#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xxhash.h>

#include <filesystem>

#include "base/log.h"
#include "base/test_folder.h"
#include "cache/record.h"
#include "cache/test_entries.h"

namespace hengshi::cache {
namespace {

using std::chrono::seconds;

struct Opened {
  ManualClock clock;
  Metrics metrics;
  std::unique_ptr<Cache> cache;
  std::string error;

  explicit Opened(const std::string& directory, seconds later = {}, Options options = {}) {
    options.directory = directory;
    clock.advance(later);
    auto opened = Cache::open(std::move(options), clock, metrics);
    if (opened) cache = std::move(*opened);
    if (!opened) error = opened.error().message;
  }
};

std::vector<float> vector_of(int i) {
  std::mt19937_64 random(static_cast<uint64_t>(i));
  return random_unit(random, 64);
}

constexpr const char* kLog = "cache.log";

// How many of the first n entries are there; an entry that is there must be whole and right.
int present(const Cache& cache, int n) {
  int found = 0;
  for (int i = 0; i < n; ++i) {
    const Entry expected = make_entry("question " + std::to_string(i));
    const EntryPtr e = cache.find(expected.id);
    if (!e) continue;
    ++found;
    EXPECT_EQ(e->question, expected.question);
    EXPECT_EQ(e->payload, expected.payload);
    EXPECT_EQ(e->model, expected.model);
    EXPECT_EQ(e->partition, expected.partition);
  }
  return found;
}

void fill(Cache& cache, int n) {
  for (int i = 0; i < n; ++i) cache.insert(make_entry("question " + std::to_string(i)), vector_of(i));
  cache.flush();
}

TEST(Persistence, EntriesComeBackWithoutAnEncoder) {
  const TempFolder directory;
  double similarity = 0;
  {
    Opened first(directory.path());
    fill(*first.cache, 20);
    first.cache->insert(make_entry("exact only"), {});
    first.cache->flush();
    similarity = first.cache->find_similar(digest("p"), "question 7", vector_of(7), 0.9).best_similarity;
  }
  Opened again(directory.path(), seconds(10));
  EXPECT_EQ(present(*again.cache, 20), 20);
  EXPECT_NE(again.cache->find(make_entry("exact only").id), nullptr);
  EXPECT_EQ(again.cache->stats().semantic_entries, 20u);
  const auto result = again.cache->find_similar(digest("p"), "question 7", vector_of(7), 0.9);
  ASSERT_TRUE(result.hit);
  EXPECT_EQ(result.hit->entry->question, "question 7");
  EXPECT_EQ(result.best_similarity, similarity);
  EXPECT_EQ(again.cache->stats().skipped_corrupt, 0u);
}

TEST(Persistence, TtlHoldsAcrossARestart) {
  const TempFolder directory;
  {
    fill(*Opened(directory.path()).cache, 3);
  }
  EXPECT_EQ(present(*Opened(directory.path(), seconds(86'399)).cache, 3), 3);
  EXPECT_EQ(present(*Opened(directory.path(), seconds(86'400)).cache, 3), 0);
}

TEST(Persistence, TheLastOfOneIdWins) {
  const TempFolder directory;
  {
    Opened first(directory.path());
    fill(*first.cache, 3);
    Entry e = make_entry("question 1");
    e.payload = "newer";
    first.cache->insert(e, vector_of(1));
    first.cache->flush();
  }
  Opened again(directory.path());
  EXPECT_EQ(again.cache->find(make_entry("question 1").id)->payload, "newer");
  EXPECT_EQ(again.cache->stats().semantic_entries, 3u);
}

TEST(Persistence, OneProcessAtATime) {
  const TempFolder directory;
  const Opened first(directory.path());
  const Opened second(directory.path());
  EXPECT_EQ(second.cache, nullptr);
  EXPECT_NE(second.error.find("another process"), std::string::npos) << second.error;
}

TEST(Persistence, AnotherVersionIsRefusedWithTheCommandToRun) {
  const TempFolder directory;
  {
    fill(*Opened(directory.path()).cache, 3);
  }
  std::string bytes = directory.read(kLog);
  // A header of version 2 with its own checksum, as a later program would write it.
  std::string header = "HENGSHIC";
  header += std::string("\2\0\0\0\0\0\0\0", 8) + bytes.substr(16, 8);
  const uint64_t sum = XXH64(header.data(), header.size(), 0);
  header.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  directory.write(kLog, header + bytes.substr(kLogHeaderBytes));
  const Opened again(directory.path());
  EXPECT_EQ(again.cache, nullptr);
  EXPECT_EQ(again.error, directory / kLog + " is of version 2, this program reads 1; move it away: mv " +
                             directory / kLog + " " + directory / kLog + ".v2");
  EXPECT_EQ(directory.read(kLog).size(), bytes.size()) << "untouched";
}

TEST(Persistence, AnUnusableDirectoryIsNamed) {
  const TempFolder directory;
  directory.write("file", "x");
  const Opened opened(directory / "file/cache");
  EXPECT_EQ(opened.cache, nullptr);
  EXPECT_NE(opened.error.find("cache.lock"), std::string::npos) << opened.error;
}

TEST(Persistence, ATornTailIsCut) {
  const TempFolder directory;
  {
    fill(*Opened(directory.path()).cache, 5);
  }
  const std::string whole = directory.read(kLog);
  for (size_t cut = whole.size() - 1; cut > whole.size() - 300; cut -= 7) {
    directory.write(kLog, whole.substr(0, cut));
    Opened again(directory.path());
    EXPECT_GE(present(*again.cache, 5), 3);
    EXPECT_LT(present(*again.cache, 5), 5);
    again.cache->insert(make_entry("question 9"), vector_of(9));
    again.cache->flush();
    const int before = present(*again.cache, 10);
    again.cache.reset();
    EXPECT_EQ(present(*Opened(directory.path()).cache, 10), before);
  }
}

TEST(Persistence, NoFlippedByteServesAWrongEntry) {
  const TempFolder directory;
  {
    fill(*Opened(directory.path()).cache, 3);
  }
  const std::string whole = directory.read(kLog);
  set_log_level(LogLevel::kOff);  // a header set aside is worth a line, thirty are not
  for (size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 + at % 255));
    directory.write(kLog, damaged);
    const Opened again(directory.path());
    ASSERT_NE(again.cache, nullptr) << again.error << " at " << at;
    EXPECT_EQ(present(*again.cache, 3), at < kLogHeaderBytes ? 0 : 2) << at;
    EXPECT_EQ(again.cache->stats().skipped_corrupt, 1u) << at;
    EXPECT_LE(again.cache->stats().exact_entries, 2u) << at;
  }
  set_log_level(LogLevel::kInfo);
}

TEST(Persistence, TextWithinAnAnswerCannotPoseAsARecord) {
  const TempFolder directory;
  Entry honest = make_entry("question 0");
  Record forged;
  const Digest victim = digest("victim");
  forged.id = victim;
  forged.created_s = 1'700'000'000;
  append_record(honest.payload, forged, 0);
  {
    Opened first(directory.path());
    first.cache->insert(honest, {});
    first.cache->flush();
  }
  std::string bytes = directory.read(kLog);
  bytes[kLogHeaderBytes + 20] = static_cast<char>(bytes[kLogHeaderBytes + 20] ^ 1);  // the honest record is damaged
  directory.write(kLog, bytes);
  const Opened again(directory.path());
  EXPECT_EQ(again.cache->find(victim), nullptr);
  EXPECT_EQ(again.cache->stats().exact_entries, 0u);
}

TEST(Persistence, GarbageIsCompactedAway) {
  const TempFolder directory;
  Options options{.exact_bytes = 400'000, .semantic_bytes = 400'000};
  {
    Opened first(directory.path(), {}, options);
    for (int i = 0; i < 6000; ++i) {
      first.cache->insert(make_entry("question " + std::to_string(i), "p", 500), vector_of(i));
      if (i % 50 == 0) first.cache->flush();
    }
    first.cache->flush();
    EXPECT_GT(first.metrics.counter("hengshi_cache_rewrites_total", "").value(), 0);
  }
  EXPECT_LT(std::filesystem::file_size(directory / kLog), 2'000'000u);
  Opened again(directory.path(), {}, options);
  EXPECT_NE(again.cache->find(make_entry("question 5999").id), nullptr);
  EXPECT_TRUE(again.cache->find_similar(digest("p"), "question 5999", vector_of(5999), 0.9).hit);
  EXPECT_EQ(again.cache->stats().skipped_corrupt, 0u);
}

TEST(Persistence, AFolderThatCannotBeWrittenIsSaidWithWhatToDo) {
  const Opened opened("/proc/none");
  EXPECT_EQ(opened.cache, nullptr);
  EXPECT_NE(opened.error.find("/proc/none/cache.lock"), std::string::npos) << opened.error;
  EXPECT_NE(opened.error.find("set [cache] directory to another folder"), std::string::npos) << opened.error;
}

TEST(Persistence, AFullDiskIsCountedAndEntriesLiveOn) {
  const TempFolder directory;
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  {
    Opened first(directory.path());
    fill(*first.cache, 5);
    rlimit full = before;
    full.rlim_cur = std::filesystem::file_size(directory / kLog) + 100;
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &full), 0);
    first.cache->insert(make_entry("question 5"), vector_of(5));
    first.cache->flush();
    EXPECT_EQ(present(*first.cache, 6), 6);
    EXPECT_EQ(first.metrics.counter("hengshi_fail_open_total", "", {{"part", "cache"}}).value(), 1);
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    first.cache->insert(make_entry("question 6"), vector_of(6));  // room again
    first.cache->flush();
  }
  Opened again(directory.path());
  EXPECT_EQ(present(*again.cache, 7), 6);
  EXPECT_EQ(again.cache->stats().skipped_corrupt, 0u);
}

// In a child: inserts until it is killed, and tells through the pipe what flush() promised.
[[noreturn]] void insert_until_killed(const std::string& directory, int pipe, int from) {
  Opened opened(directory, {}, {.exact_bytes = 300'000, .semantic_bytes = 300'000});
  if (!opened.cache) ::_exit(1);
  for (int i = from;; ++i) {
    opened.cache->insert(make_entry("question " + std::to_string(i), "p", 400), vector_of(i % 50));
    if (i % 3 == 0) opened.cache->flush();
    if (i % 3 == 0 && ::write(pipe, &i, sizeof i) != sizeof i) ::_exit(1);
  }
}

TEST(Persistence, KilledAtAnyMomentNothingIsTorn) {
  const TempFolder directory;
  std::mt19937_64 random(3);
  int promised = -1;
  for (int round = 0; round < 30; ++round) {
    int pipes[2];
    ASSERT_EQ(::pipe(pipes), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) insert_until_killed(directory.path(), pipes[1], promised + 1);
    ::close(pipes[1]);
    const int flushes = 1 + static_cast<int>(random() % 40);  // a random moment, without sleeping
    for (int i = 0; i < flushes; ++i) {
      ASSERT_EQ(::read(pipes[0], &promised, sizeof promised), static_cast<ssize_t>(sizeof promised));
    }
    for (volatile uint64_t spin = random() % 2'000'000; spin > 0;) spin = spin - 1;
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    for (int more = 0; ::read(pipes[0], &more, sizeof more) == static_cast<ssize_t>(sizeof more);) promised = more;
    ::close(pipes[0]);
    Opened again(directory.path());
    ASSERT_NE(again.cache, nullptr) << again.error;
    const Entry last = make_entry("question " + std::to_string(promised), "p", 400);
    const EntryPtr found = again.cache->find(last.id);
    ASSERT_NE(found, nullptr) << "flushed, so not lost";
    EXPECT_EQ(found->payload, last.payload);
    for (int i = 0; i <= promised; ++i) {
      const Entry expected = make_entry("question " + std::to_string(i), "p", 400);
      const EntryPtr e = again.cache->find(expected.id);
      if (e) {
        ASSERT_EQ(e->payload, expected.payload);
      }
    }
  }
}

}  // namespace
}  // namespace hengshi::cache
