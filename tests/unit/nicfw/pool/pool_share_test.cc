#include "nicfw/pool/pool_share.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/base/random.h"
#include "nicfw/lane/lane.h"

namespace pinwire {
namespace {

/// A pool of `size` items, as a lane has it.
class Pool {
 public:
  Pool(const PoolReserve& reserve, uint32_t size) : share_(reserve), available_(size) {}
  bool take(uint32_t& held, bool is_reply, uint32_t wanted = 1) {
    if (!share_.allows(held, wanted, available_, is_reply)) return false;
    for (; wanted > 0; --wanted, --available_) share_.took(held++, is_reply);
    return true;
  }
  bool take_whole(uint32_t& held, uint32_t wanted) {
    if (!share_.allows_whole(held, wanted, available_, false)) return false;
    for (; wanted > 0; --wanted, --available_) share_.took(held++, false);
    return true;
  }
  void give(uint32_t& held, bool is_reply) {
    share_.gave(--held, is_reply);
    ++available_;
  }
  uint32_t available() const { return available_; }

 private:
  PoolShare share_;
  uint32_t available_;
};

/// Two holders with two items of their own each, and ten that all share, of which two are kept for
/// copied puts.
TEST(PoolShare, ACopiedPutTakesAllThatIsSharedAndNothingThatIsOthersOwn) {
  const PoolShare share({.holders = 2, .own = 2, .whole = 2});
  constexpr uint32_t kAvailable = 2 * 2 + 10;
  EXPECT_TRUE(share.allows_whole(0, 2, kAvailable, false)) << "its own";
  EXPECT_TRUE(share.allows_whole(2, 10, kAvailable, false));
  EXPECT_FALSE(share.allows_whole(2, 11, kAvailable, false));
  EXPECT_FALSE(share.allows(2, 9, kAvailable, false)) << "two are kept";
  EXPECT_TRUE(share.allows(2, 8, kAvailable, false)) << "all others";
  EXPECT_TRUE(share.allows(3, 2, kAvailable, false));
  EXPECT_TRUE(share.allows_whole(3, 2, kAvailable, false)) << "like any other";
  EXPECT_FALSE(share.allows_whole(3, 9, kAvailable, false)) << "who holds more takes no more";
}

TEST(PoolShare, OneHolderEndsWithHalfOfWhatIsSharedAndLeavesHalf) {
  Pool pool({.holders = 1}, 101);
  uint32_t held = 0;
  while (pool.take(held, false)) {
  }
  EXPECT_EQ(held, 1 + 50u);
}

TEST(PoolShare, EveryHolderFindsItsOwnItemsWhateverTheOthersHold) {
  constexpr uint32_t kHolders = 30;
  for (const bool others_are_replies : {false, true}) {
    Pool pool({.holders = kHolders, .own = 2, .replies = 8}, 2 * kHolders + 32);
    uint32_t held[kHolders] = {};
    for (uint32_t h = 0; h + 1 < kHolders; ++h) {
      while (pool.take(held[h], others_are_replies)) {
      }
      EXPECT_GE(held[h], 2u) << "holder " << h;
    }
    EXPECT_TRUE(pool.take(held[kHolders - 1], false, 2)) << others_are_replies;
    EXPECT_FALSE(pool.take(held[kHolders - 1], false)) << "more than its own";
    for (uint32_t h = 0; h + 1 < kHolders; ++h) {
      while (held[h] > 0) pool.give(held[h], others_are_replies);
      EXPECT_TRUE(pool.take(held[h], others_are_replies, 2));
    }
  }
}

TEST(PoolShare, RepliesHaveTheirReserveAndTakeItFromNobodyElse) {
  Pool pool({.holders = 3, .replies = 8}, 3 + 40);
  uint32_t requests = 0, replies = 0, others = 0;
  while (pool.take(requests, false)) {
  }
  EXPECT_EQ(requests, 1 + 16u) << "half of the 32 that are not for replies";
  while (pool.take(replies, true)) {
  }
  EXPECT_EQ(replies, 1 + 12u) << "half of the 24 that were left";
  EXPECT_TRUE(pool.take(others, false)) << "its own";
  EXPECT_TRUE(pool.take(others, false)) << "the reserve of the replies is used up, and not kept";
}

TEST(PoolShare, OnlyACopiedPutOfAHolderOfNothingTakesWhatIsKeptForThat) {
  Pool pool({.holders = 40, .whole = 8}, 40 + 8 + 16);
  uint32_t greedy[38] = {};
  for (uint32_t& held : greedy) {
    while (pool.take(held, false)) {
    }
  }
  uint32_t attentive = 0;
  EXPECT_FALSE(pool.take(attentive, false, 8));
  EXPECT_TRUE(pool.take_whole(attentive, 8));
  EXPECT_FALSE(pool.take_whole(attentive, 1)) << "it holds shared items";
  uint32_t last = 0;
  EXPECT_TRUE(pool.take(last, false)) << "its own";
}

struct Shape {
  const char* name;
  PoolReserve reserve;
  uint32_t items;
  uint32_t holders;
  uint32_t wanted_max;
  uint32_t flows_per_reply = 3;
};
void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }

/// As the lane makes them; with more holders than have items of their own, too.
std::vector<Shape> shapes() {
  constexpr uint32_t kWindow = 64;
  const PoolReserve responses{.holders = 256, .own = kAsksPerFrameMax};
  const PoolReserve slots{
      .holders = 300, .own = 2, .replies = kWindow, .whole = copied_frames(kWindow)};
  const PoolReserve buffers = buffer_reserve(4 * kWindow, 300);
  return {
      {"responses", responses, 8 * kWindow + responses.items(), 250, kAsksPerFrameMax},
      {"responses_of_many", responses, 8 * kWindow + responses.items(), 300, kAsksPerFrameMax},
      {"slots", slots, 4 * kWindow + slots.items(), 300, 8},
      {"slots_of_many", slots, 4 * kWindow + slots.items(), 330, 8},
      {"buffers_of_many", buffers, frame_buffers(4 * kWindow, 300), 900, 8},
      {"buffers_of_many_replies", buffers, frame_buffers(4 * kWindow, 300), 900, 8, 1},
  };
}

class Shares : public testing::TestWithParam<Shape> {};

TEST_P(Shares, WhatIsAllowedIsThereAndOwnItemsAreNobodyElses) {
  constexpr uint32_t kSteps = 1'000'000;
  const Shape& pool = GetParam();
  Random random(1);
  PoolShare share(pool.reserve);
  uint32_t available = pool.items, whole_taken = 0;
  std::vector<uint32_t> held(pool.holders);
  for (uint32_t step = 0; step < kSteps; ++step) {
    const uint64_t holder = random.below(pool.holders);
    const bool is_reply = holder % pool.flows_per_reply == 0;
    if (random.chance(0.2) && held[holder] > 0) {
      share.gave(--held[holder], is_reply);
      ++available;
      continue;
    }
    if (pool.holders <= pool.reserve.holders && held[holder] < pool.reserve.own) {
      ASSERT_TRUE(share.allows(held[holder], 1, available, is_reply)) << step;
    }
    const auto wanted = 1 + static_cast<uint32_t>(random.below(pool.wanted_max));
    const bool is_allowed = share.allows(held[holder], wanted, available, is_reply);
    const bool is_whole = share.allows_whole(held[holder], wanted, available, is_reply);
    if (!is_allowed && !is_whole) continue;
    whole_taken += !is_allowed;
    ASSERT_LE(wanted, available) << "step " << step << ", of " << held[holder] << " held";
    for (uint32_t i = 0; i < wanted; ++i, --available) share.took(held[holder]++, is_reply);
  }
  if (pool.reserve.whole != 0) {
    EXPECT_GT(whole_taken, 0u);
  }
}

INSTANTIATE_TEST_SUITE_P(Of, Shares, testing::ValuesIn(shapes()),
                         [](const auto& pool) { return std::string(pool.param.name); });

}  // namespace
}  // namespace pinwire
