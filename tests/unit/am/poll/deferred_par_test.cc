// Work that handlers leave to polls: nothing recorded before defer() is missed, whoever runs it.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "am/poll/deferred.h"

namespace pinwire {
namespace {

struct CountedWork : Deferred {
  std::atomic<uint32_t> recorded{0};
  uint32_t seen = 0;  // by runs, one at a time
  uint32_t runs = 0;
  bool again = false;
  uint32_t inner = ~0u;
};

uint32_t run_work(Deferred& deferred) noexcept {
  auto& work = static_cast<CountedWork&>(deferred);
  ++work.runs;
  const uint32_t now = work.recorded.load(std::memory_order_relaxed);
  const uint32_t news = now - work.seen;
  work.seen = now;
  if (work.again) {
    work.again = false;
    defer(work);
    work.inner = run_deferred();  // as a poll inside it would
  }
  return news;
}

TEST(Deferred, RunsOnceForManyCalls) {
  CountedWork work;
  work.run = run_work;
  EXPECT_EQ(run_deferred(), 0u);
  for (int i = 0; i < 3; ++i) {
    work.recorded.fetch_add(1);
    defer(work);
  }
  EXPECT_EQ(run_deferred(), 3u);
  EXPECT_EQ(work.runs, 1u);
  EXPECT_EQ(run_deferred(), 0u);
  EXPECT_EQ(work.runs, 1u);
}

TEST(Deferred, WhatIsListedMeanwhileIsForTheNextTurn) {
  CountedWork work;
  work.run = run_work;
  work.again = true;
  defer(work);
  run_deferred();
  EXPECT_EQ(work.runs, 1u);
  EXPECT_EQ(work.inner, 0u) << "it does not nest";
  run_deferred();
  EXPECT_EQ(work.runs, 2u);
}

TEST(DeferredRoom, CountsAWorkOnceHoweverOftenItLooks) {
  DeferredRoom a, b;
  a.has(true);
  EXPECT_EQ(deferred_without_room.load(), 0u);
  a.has(false);
  a.has(false);
  b.has(false);
  EXPECT_EQ(deferred_without_room.load(), 2u);
  a.has(true);
  a.has(true);
  EXPECT_EQ(deferred_without_room.load(), 1u);
  b.has(true);
  EXPECT_EQ(deferred_without_room.load(), 0u);
}

TEST(Deferred, NoThreadIsMissed) {
  constexpr uint32_t kThreads = 4, kTimes = 20'000, kWorks = 3;
  std::vector<CountedWork> works(kWorks);
  for (CountedWork& work : works) work.run = run_work;
  std::atomic<uint32_t> running{kThreads};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kTimes; ++i) {
        CountedWork& work = works[(i + t) % kWorks];
        work.recorded.fetch_add(1, std::memory_order_relaxed);
        defer(work);
        if (i % 5 == t) run_deferred();
      }
      running.fetch_sub(1);
    });
  }
  while (running.load() != 0) run_deferred();
  for (std::thread& thread : threads) thread.join();
  run_deferred();
  uint32_t seen = 0;
  for (const CountedWork& work : works) {
    EXPECT_EQ(work.seen, work.recorded.load());
    seen += work.seen;
  }
  EXPECT_EQ(seen, kThreads * kTimes);
}

}  // namespace
}  // namespace pinwire
