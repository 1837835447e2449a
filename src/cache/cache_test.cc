#include "cache/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

#include "cache/test_entries.h"

namespace hengshi::cache {
namespace {

using std::chrono::seconds;

struct Fixture {
  ManualClock clock;
  Metrics metrics;
  std::unique_ptr<Cache> cache;

  explicit Fixture(Options options = {}) { cache = Cache::open(std::move(options), clock, metrics).value(); }
  void put(const Entry& entry, std::span<const float> embedding = {}) {
    cache->insert(entry, embedding);
    cache->flush();
  }
  int64_t count(const char* name, const Labels& labels = {}) { return metrics.counter(name, "", labels).value(); }
};

TEST(Exact, FindsByIdOnly) {
  Fixture f;
  const Entry e = make_entry("怎么退款");
  EXPECT_EQ(f.cache->find(e.id), nullptr);
  f.put(e);
  const EntryPtr found = f.cache->find(e.id);
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->payload, e.payload);
  EXPECT_EQ(found->model, "fake");
  EXPECT_EQ(found->created_s, 1'700'000'000);
  EXPECT_EQ(f.cache->find(digest("other")), nullptr);
}

TEST(Exact, IsFoundAtOnceAlsoWhileTheWriterIsBehind) {
  Fixture f;
  for (int i = 0; i < 1000; ++i) {
    const Entry e = make_entry("q" + std::to_string(i));
    f.cache->insert(e, {});
    EXPECT_NE(f.cache->find(e.id), nullptr) << i;
  }
  f.cache->flush();
  EXPECT_EQ(f.cache->stats().exact_entries, 1000u);
}

TEST(Exact, ReplacesAnExistingId) {
  Fixture f;
  Entry e = make_entry("q");
  f.put(e);
  e.payload = "newer";
  f.put(e);
  EXPECT_EQ(f.cache->find(e.id)->payload, "newer");
  EXPECT_EQ(f.cache->stats().exact_entries, 1u);
}

TEST(Exact, LeavesAfterItsTtl) {
  Fixture f({.ttl = seconds(100)});
  const Entry e = make_entry("q");
  f.put(e);
  f.clock.advance(seconds(99));
  EXPECT_NE(f.cache->find(e.id), nullptr);
  f.clock.advance(seconds(1));
  EXPECT_EQ(f.cache->find(e.id), nullptr);
  f.cache->flush();
  EXPECT_EQ(f.cache->stats().exact_entries, 0u);
  EXPECT_EQ(f.cache->stats().exact_bytes, 0u);
  EXPECT_EQ(f.count("hengshi_cache_evicted_total", {{"kind", "exact"}, {"reason", "ttl"}}), 1);
}

TEST(Exact, StaysInItsBytesAndDropsTheLeastRecentlyUsed) {
  Fixture f({.exact_bytes = 10'000});
  const Entry kept = make_entry("kept");
  f.put(kept);
  for (int i = 0; i < 100; ++i) {
    f.put(make_entry("q" + std::to_string(i)));
    EXPECT_LE(f.cache->stats().exact_bytes, 10'000u);
    EXPECT_NE(f.cache->find(kept.id), nullptr) << "used, so it stays";
  }
  EXPECT_EQ(f.cache->find(make_entry("q0").id), nullptr);
  EXPECT_NE(f.cache->find(make_entry("q99").id), nullptr);
  EXPECT_GT(f.count("hengshi_cache_evicted_total", {{"kind", "exact"}, {"reason", "bytes"}}), 50);
}

TEST(Exact, AnEntryLargerThanTheCacheIsNotKept) {
  Fixture f({.exact_bytes = 10'000});
  f.put(make_entry("small"));
  f.put(make_entry("large", "p", 20'000));
  EXPECT_EQ(f.cache->find(make_entry("large").id), nullptr);
  EXPECT_NE(f.cache->find(make_entry("small").id), nullptr);
}

TEST(Semantic, FindsTheNearestAboveTheThreshold) {
  Fixture f;
  std::mt19937_64 random(1);
  const auto v = random_unit(random, 384);
  f.put(make_entry("how do i get a refund"), v);
  const auto close = near(v, random, 0.3f);
  const auto hit = f.cache->find_similar(digest("p"), "how can i get a refund", close, 0.9);
  ASSERT_TRUE(hit.hit);
  EXPECT_EQ(hit.hit->entry->question, "how do i get a refund");
  EXPECT_NEAR(hit.hit->similarity, cosine(v, close), 0.01);
  EXPECT_EQ(hit.refused_by, "");
  const auto miss = f.cache->find_similar(digest("p"), "how can i get a refund", close, 0.99);
  EXPECT_FALSE(miss.hit);
  EXPECT_EQ(miss.refused_by, "threshold");
  EXPECT_NEAR(miss.best_similarity, cosine(v, close), 0.01);
}

TEST(Semantic, SaysNothingOfAnEmptyPartition) {
  Fixture f;
  std::mt19937_64 random(1);
  const auto result = f.cache->find_similar(digest("p"), "q", random_unit(random, 384), 0.5);
  EXPECT_FALSE(result.hit);
  EXPECT_EQ(result.refused_by, "");
  EXPECT_EQ(result.best_similarity, 0);
}

TEST(Semantic, GuardsRefuseAndTheNextCandidateIsAsked) {
  Fixture f;
  std::mt19937_64 random(1);
  const auto v = random_unit(random, 384);
  f.put(make_entry("怎么关闭蓝牙"), near(v, random, 0.05f));
  auto result = f.cache->find_similar(digest("p"), "怎么开启蓝牙", v, 0.9);
  EXPECT_FALSE(result.hit);
  EXPECT_EQ(result.refused_by, "antonym");
  f.put(make_entry("如何打开蓝牙"), near(v, random, 0.2f));
  result = f.cache->find_similar(digest("p"), "怎么开启蓝牙", v, 0.9);
  ASSERT_TRUE(result.hit);
  EXPECT_EQ(result.hit->entry->question, "如何打开蓝牙");
  f.put(make_entry("寄5g要多少钱", "w"), v);
  EXPECT_EQ(f.cache->find_similar(digest("w"), "寄5kg要多少钱", v, 0.9).refused_by, "number");
}

TEST(Semantic, PartitionsNeverMix) {
  Fixture f;
  std::mt19937_64 random(7);
  std::vector<std::vector<float>> vectors;
  for (int i = 0; i < 50; ++i) vectors.push_back(random_unit(random, 64));
  for (int p = 0; p < 20; ++p) {
    for (size_t i = 0; i < vectors.size(); ++i) {  // the same questions and vectors in each
      Entry e = make_entry("same question " + std::string(i, 'x'), std::to_string(p));
      e.payload = std::to_string(p);
      f.cache->insert(e, vectors[i]);
    }
  }
  f.cache->flush();
  for (int p = 0; p < 20; ++p) {
    for (size_t i = 0; i < vectors.size(); ++i) {
      const auto result =
          f.cache->find_similar(digest(std::to_string(p)), "same question " + std::string(i, 'x'), vectors[i], 0.0);
      ASSERT_TRUE(result.hit);
      EXPECT_EQ(result.hit->entry->payload, std::to_string(p));
      EXPECT_EQ(result.hit->entry->partition, digest(std::to_string(p)));
    }
  }
  EXPECT_FALSE(f.cache->find_similar(digest("99"), "same question ", vectors[0], -1).hit);
  EXPECT_EQ(f.cache->stats().semantic_entries, 1000u);
}

TEST(Semantic, RecallAgainstBruteForce) {
  Fixture f;
  std::mt19937_64 random(11);
  std::vector<std::vector<float>> all;
  for (int c = 0; c < 100; ++c) {
    const auto center = random_unit(random, 384);
    for (int i = 0; i < 10; ++i) {
      all.push_back(near(center, random, 0.5f));
      Entry e = make_entry("question", "p");
      e.id = digest(std::to_string(all.size()));
      e.payload = std::to_string(all.size() - 1);
      f.cache->insert(e, all.back());
      if (all.size() % 500 == 0) f.cache->flush();
    }
  }
  f.cache->flush();
  int same = 0;
  const int kQueries = 100;
  for (int i = 0; i < kQueries; ++i) {
    const auto query = near(all[random() % all.size()], random, 0.4f);
    size_t best = 0;
    for (size_t k = 1; k < all.size(); ++k) {
      if (cosine(query, all[k]) > cosine(query, all[best])) best = k;
    }
    const auto result = f.cache->find_similar(digest("p"), "question", query, 0.0);
    ASSERT_TRUE(result.hit);
    same += result.hit->entry->payload == std::to_string(best);
  }
  EXPECT_GE(same, kQueries * 98 / 100);
}

TEST(Semantic, ReplacedWithoutEmbeddingLeavesTheIndex) {
  Fixture f;
  std::mt19937_64 random(1);
  const auto v = random_unit(random, 64);
  f.put(make_entry("q"), v);
  EXPECT_EQ(f.cache->stats().semantic_entries, 1u);
  f.put(make_entry("q"));
  EXPECT_EQ(f.cache->stats().semantic_entries, 0u);
  EXPECT_FALSE(f.cache->find_similar(digest("p"), "q", v, 0.5).hit);
}

TEST(Semantic, LeavesAfterItsTtl) {
  Fixture f({.ttl = seconds(100)});
  std::mt19937_64 random(1);
  const auto v = random_unit(random, 64);
  f.put(make_entry("q"), v);
  f.clock.advance(seconds(100));
  EXPECT_FALSE(f.cache->find_similar(digest("p"), "q", v, 0.5).hit);
  f.cache->flush();
  EXPECT_EQ(f.cache->stats().semantic_entries, 0u);
  EXPECT_EQ(f.cache->stats().semantic_bytes, 0u);
}

TEST(Semantic, StaysInItsBytesAndKeepsWhatIsUsed) {
  Fixture f({.semantic_bytes = 100'000});
  std::mt19937_64 random(1);
  const auto v = random_unit(random, 384);
  f.put(make_entry("kept"), v);
  for (int i = 0; i < 500; ++i) {
    f.put(make_entry("q" + std::to_string(i), "partition" + std::to_string(i % 7)), random_unit(random, 384));
    EXPECT_LE(f.cache->stats().semantic_bytes, 100'000u);
    ASSERT_TRUE(f.cache->find_similar(digest("p"), "kept", v, 0.9).hit) << i;
  }
  EXPECT_GT(f.cache->stats().semantic_entries, 50u);
}

TEST(Semantic, WhatIsNoVectorIsFoundByItsIdOnly) {
  Fixture f;
  const std::vector<float> bad(64, NAN);
  f.put(make_entry("q"), bad);
  EXPECT_NE(f.cache->find(make_entry("q").id), nullptr);
  EXPECT_EQ(f.cache->stats().semantic_entries, 0u);
  EXPECT_EQ(f.count("hengshi_fail_open_total", {{"part", "cache"}}), 1);
  EXPECT_FALSE(f.cache->find_similar(digest("p"), "q", bad, 0.5).hit);
}

TEST(Semantic, AnotherDimensionIsNotMixedIn) {
  Fixture f;
  std::mt19937_64 random(1);
  f.put(make_entry("a"), random_unit(random, 64));
  f.put(make_entry("b"), random_unit(random, 512));
  EXPECT_EQ(f.cache->stats().semantic_entries, 1u);
  EXPECT_FALSE(f.cache->find_similar(digest("p"), "a", random_unit(random, 512), -1).hit);
}

TEST(Threads, ReadersBesideTheWriter) {
  Fixture f({.exact_bytes = 200'000, .semantic_bytes = 200'000});
  std::mt19937_64 random(5);
  std::vector<std::vector<float>> vectors;
  for (int i = 0; i < 64; ++i) vectors.push_back(random_unit(random, 64));
  std::atomic<bool> stop = false;
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  for (size_t t = 0; t < 3; ++t) {
    readers.emplace_back([&, t] {
      for (size_t i = t; !stop; ++i) {
        const std::string partition = std::to_string(i % 3);
        const auto result = f.cache->find_similar(digest(partition), "question", vectors[i % 64], 0.5);
        if (result.hit && result.hit->entry->partition != digest(partition)) ++wrong;
        const EntryPtr e = f.cache->find(make_entry(std::to_string(i % 1000), partition).id);
        if (e && e->question != std::to_string(i % 1000)) ++wrong;
      }
    });
  }
  for (size_t i = 0; i < 3000; ++i) {
    f.cache->insert(make_entry(std::to_string(i % 1000), std::to_string(i % 3)), vectors[i % 64]);
    if (i % 100 == 0) f.cache->flush();
  }
  f.cache->flush();
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_LE(f.cache->stats().semantic_bytes, 200'000u);
}

TEST(Queue, FullItDropsAndCounts) {
  Fixture f;
  const Entry big = make_entry("big", "p", size_t{33} << 20);
  f.put(big);
  EXPECT_EQ(f.cache->find(big.id), nullptr);
  EXPECT_EQ(f.count("hengshi_cache_dropped_total"), 1);
  EXPECT_EQ(f.count("hengshi_fail_open_total", {{"part", "cache"}}), 1);
}

}  // namespace
}  // namespace hengshi::cache
