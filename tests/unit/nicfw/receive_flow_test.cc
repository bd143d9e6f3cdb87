#include "nicfw/receive_flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/base/random.h"

namespace pinwire {
namespace {

constexpr uint32_t kNearWrap = 0xffffffc0;

TEST(ReceiveFlow, InOrderAcrossTheWrap) {
  ReceiveFlow flow;
  flow.start(kNearWrap);
  for (uint32_t i = 0; i < 1000; ++i) {
    ASSERT_EQ(flow.classify(kNearWrap + i), Arrival::kNew);
    flow.mark(kNearWrap + i);
    ASSERT_EQ(flow.classify(kNearWrap + i), Arrival::kDuplicate);
    ASSERT_EQ(flow.next(), kNearWrap + i + 1);
    ASSERT_FALSE(flow.has_holes());
  }
}

TEST(ReceiveFlow, AnyOrderWithinTheWindowAcrossTheWrap) {
  Random random(1);
  for (int round = 0; round < 50; ++round) {
    ReceiveFlow flow;
    flow.start(kNearWrap);
    std::vector<uint32_t> order(kWindowFramesMax);
    std::iota(order.begin(), order.end(), kNearWrap);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    std::vector<bool> arrived(kWindowFramesMax);
    for (const uint32_t sequence : order) {
      ASSERT_EQ(flow.classify(sequence), Arrival::kNew);
      flow.mark(sequence);
      arrived[sequence - kNearWrap] = true;
      const auto missing = std::find(arrived.begin(), arrived.end(), false) - arrived.begin();
      ASSERT_EQ(flow.next(), kNearWrap + static_cast<uint32_t>(missing));
      const SackBitmap sack = flow.sack();
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
  ReceiveFlow flow;
  flow.start(5);
  EXPECT_EQ(flow.classify(5 + kWindowFramesMax), Arrival::kOutside);
  EXPECT_EQ(flow.classify(5 + kWindowFramesMax - 1), Arrival::kNew);
  EXPECT_EQ(flow.classify(4), Arrival::kDuplicate);
  EXPECT_EQ(flow.classify(5 + 0x70000000), Arrival::kOutside);
  EXPECT_EQ(flow.classify(5u - 0x70000000u), Arrival::kDuplicate);
}

TEST(ReceiveFlow, KnowsWhetherAMessagesDataArrived) {
  for (const uint32_t base : {100u, 0xfffffffdu}) {
    ReceiveFlow flow;
    flow.start(base);
    flow.mark(base + 3);
    EXPECT_TRUE(flow.arrived_before(base + 3, 0));
    EXPECT_FALSE(flow.arrived_before(base + 3, 1));
    EXPECT_FALSE(flow.arrived_before(base + 3, 3));
    flow.mark(base + 2);
    EXPECT_TRUE(flow.arrived_before(base + 3, 1));
    EXPECT_FALSE(flow.arrived_before(base + 3, 2));
    flow.mark(base);
    EXPECT_FALSE(flow.arrived_before(base + 3, 3));
    EXPECT_FALSE(flow.arrived_before(base + 3, 2));
    flow.mark(base + 1);
    EXPECT_TRUE(flow.arrived_before(base + 3, 3));
    EXPECT_TRUE(flow.arrived_before(base + 3, 1'000'000));  // all of the past arrived
  }
}

}  // namespace
}  // namespace pinwire
