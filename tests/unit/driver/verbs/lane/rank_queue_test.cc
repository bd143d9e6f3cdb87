#include "driver/verbs/lane/rank_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace pinwire::verbs {
namespace {

TEST(RankQueue, IsFullAfterSixtyFourAndKeepsTheirOrder) {
  constexpr Rank kMax = 64;
  RankQueue queue;
  Rank rank = 7;
  EXPECT_FALSE(queue.pop(rank));
  EXPECT_EQ(rank, 7u) << "nothing was there";
  for (Rank lap = 0; lap < 3; ++lap) {  // from another place each time
    for (Rank i = 0; i < kMax; ++i) {
      EXPECT_FALSE(queue.is_full());
      ASSERT_TRUE(queue.push(lap * 1000 + i));
    }
    EXPECT_TRUE(queue.is_full());
    EXPECT_FALSE(queue.push(9));
    for (Rank i = 0; i < kMax; ++i) {
      ASSERT_TRUE(queue.pop(rank));
      EXPECT_EQ(rank, lap * 1000 + i);
      EXPECT_FALSE(queue.is_full());
    }
    EXPECT_FALSE(queue.pop(rank));
    ASSERT_TRUE(queue.push(1) && queue.pop(rank));
  }
}

TEST(RankQueue, CountsPastTheWrap) {
  RankQueue queue(0xffff'ffe0);
  Rank rank = 0;
  for (Rank i = 0; i < 64; ++i) ASSERT_TRUE(queue.push(i));
  EXPECT_TRUE(queue.is_full());
  EXPECT_FALSE(queue.push(9));
  for (Rank i = 0; i < 64; ++i) {
    ASSERT_TRUE(queue.pop(rank));
    EXPECT_EQ(rank, i);
  }
  EXPECT_FALSE(queue.pop(rank));
}

TEST(RankQueue, BringsEachRankOnceFromOneThreadToAnother) {
  constexpr Rank kCount = 100'000;
  RankQueue queue;
  std::atomic<bool> is_over{false};
  std::thread sender([&] {
    for (Rank rank = 0; rank < kCount && !is_over; rank += queue.push(rank)) {
      if (queue.is_full()) std::this_thread::yield();
    }
  });
  Rank rank = kCount, expected = 0;
  for (; expected < kCount; ++expected) {
    while (!queue.pop(rank)) std::this_thread::yield();
    if (rank != expected) break;
  }
  EXPECT_EQ(expected, kCount) << rank << " came in its place";
  is_over = true;
  sender.join();
  EXPECT_EQ(queue.pop(rank), expected != kCount) << rank << " comes once more";
}

}  // namespace
}  // namespace pinwire::verbs
