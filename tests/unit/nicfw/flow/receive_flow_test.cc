#include "nicfw/flow/receive_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/random.h"

namespace pinwire {
namespace {

constexpr uint32_t kNearWrap = 0xffffffc0;

TEST(ReceiveFlow, InOrderAcrossTheWrap) {
  ArrivedAheadPool pool;
  pool.make(1);
  ReceiveFlow flow;
  flow.start(kNearWrap);
  for (uint32_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(flow.classify(pool, kNearWrap + i), Arrival::kNew);
    flow.mark(pool, kNearWrap + i);
    ASSERT_EQ(flow.classify(pool, kNearWrap + i), Arrival::kDuplicate);
    ASSERT_EQ(flow.next(), kNearWrap + i + 1);
    ASSERT_FALSE(flow.has_holes());
  }
}

TEST(ReceiveFlow, AnyOrderWithinTheWindowAcrossTheWrap) {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    ArrivedAheadPool pool;
    pool.make(1);
    ReceiveFlow flow;
    flow.start(kNearWrap);
    std::vector<uint32_t> order(kWindowFramesMax);
    std::iota(order.begin(), order.end(), kNearWrap);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::vector<bool> arrived(kWindowFramesMax);
    for (const uint32_t sequence : order) {
      ASSERT_EQ(flow.classify(pool, sequence), Arrival::kNew);
      flow.mark(pool, sequence);
      arrived[sequence - kNearWrap] = true;
      const auto missing = std::find(arrived.begin(), arrived.end(), false) - arrived.begin();
      ASSERT_EQ(flow.next(), kNearWrap + static_cast<uint32_t>(missing));
      const SackBitmap sack = flow.sack(pool);
      for (uint32_t i = 0; i < kWindowFramesMax; ++i) {
        const uint32_t at = static_cast<uint32_t>(missing) + i;
        const bool expected = at < kWindowFramesMax && arrived[at] && i != 0;
        ASSERT_EQ((sack.words[i / 64] >> (i % 64) & 1) != 0, expected) << i;
      }
    }
    EXPECT_FALSE(flow.has_holes());
    EXPECT_EQ(flow.next(), kNearWrap + kWindowFramesMax);
  }
}

TEST(ReceiveFlow, WhatIsOutsideTheWindowIsNotAccepted) {
  ArrivedAheadPool pool;
  pool.make(1);
  ReceiveFlow flow;
  flow.start(5);
  EXPECT_EQ(flow.classify(pool, 5 + kWindowFramesMax), Arrival::kOutside);
  EXPECT_EQ(flow.classify(pool, 5 + kWindowFramesMax - 1), Arrival::kNew);
  EXPECT_EQ(flow.classify(pool, 4), Arrival::kDuplicate);
  EXPECT_EQ(flow.classify(pool, 5 + 0x70000000), Arrival::kOutside);
  EXPECT_EQ(flow.classify(pool, 5u - 0x70000000u), Arrival::kDuplicate);
}

TEST(ReceiveFlow, KnowsWhetherAMessagesDataArrived) {
  for (const uint32_t base : {100u, 0xfffffffdu}) {
    ArrivedAheadPool pool;
    pool.make(1);
    ReceiveFlow flow;
    flow.start(base);
    flow.mark(pool, base + 3);
    EXPECT_TRUE(flow.arrived_before(pool, base + 3, 0));
    EXPECT_FALSE(flow.arrived_before(pool, base + 3, 1));
    EXPECT_FALSE(flow.arrived_before(pool, base + 3, 3));
    flow.mark(pool, base + 2);
    EXPECT_TRUE(flow.arrived_before(pool, base + 3, 1));
    EXPECT_FALSE(flow.arrived_before(pool, base + 3, 2));
    flow.mark(pool, base);
    EXPECT_FALSE(flow.arrived_before(pool, base + 3, 3));
    EXPECT_FALSE(flow.arrived_before(pool, base + 3, 2));
    flow.mark(pool, base + 1);
    EXPECT_TRUE(flow.arrived_before(pool, base + 3, 3));
    EXPECT_TRUE(flow.arrived_before(pool, base + 3, 1'000'000));  // all of the past arrived
  }
}

TEST(ReceiveFlow, FlowsWithGapsShareThePoolAndAFlowInOrderNeedsNone) {
  ArrivedAheadPool pool;
  pool.make(1);
  ReceiveFlow first, second;
  first.mark(pool, 1);
  EXPECT_TRUE(first.has_holes());
  EXPECT_TRUE(first.may_mark(pool, 5));
  EXPECT_FALSE(second.may_mark(pool, 1)) << "there is no bitmap left";
  EXPECT_TRUE(second.may_mark(pool, 0));
  second.mark(pool, 0);
  EXPECT_EQ(second.classify(pool, 2), Arrival::kNew);
  EXPECT_EQ(second.sack(pool).words, SackBitmap{}.words);
  first.mark(pool, 0);
  EXPECT_FALSE(first.has_holes());
  EXPECT_TRUE(second.may_mark(pool, 2)) << "the first flow gave its bitmap back";
  second.mark(pool, 2);
  EXPECT_EQ(second.classify(pool, 1), Arrival::kNew);
  EXPECT_EQ(second.classify(pool, 2), Arrival::kDuplicate) << "the bitmap is a clean one";
  EXPECT_EQ(second.classify(pool, 3), Arrival::kNew);
}

}  // namespace
}  // namespace pinwire
