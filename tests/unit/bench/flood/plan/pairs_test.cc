#include "bench/flood/plan/pairs.h"

#include <gtest/gtest.h>

namespace pinwire::flood {
namespace {

TEST(Pairs, PA008EvenRanksAreActiveOddOnesPassive) {
  EXPECT_EQ(pairs_of(4), 2u);
  EXPECT_EQ(partner_of(0, 4), 1u);
  EXPECT_EQ(partner_of(1, 4), 0u);
  EXPECT_EQ(partner_of(2, 4), 3u);
  EXPECT_TRUE(measures(0, 2));
  EXPECT_FALSE(measures(1, 2));
  EXPECT_TRUE(measures(2, 4));
}

TEST(Pairs, TheLastOfAnOddNumberOnlyPolls) {
  EXPECT_EQ(pairs_of(3), 1u);
  EXPECT_EQ(partner_of(2, 3), std::nullopt);
  EXPECT_FALSE(measures(2, 3));
  for (const auto& candidate : kTrafficModes) EXPECT_FALSE(sends(2, 3, candidate.mode));
}

TEST(Pairs, C1047ARankAloneTalksToItself) {
  EXPECT_EQ(pairs_of(1), 1u);
  EXPECT_EQ(partner_of(0, 1), 0u);
  EXPECT_TRUE(measures(0, 1));
  for (const auto& candidate : kTrafficModes) EXPECT_TRUE(sends(0, 1, candidate.mode));
}

TEST(Pairs, WhoSendsInWhichMode) {
  EXPECT_TRUE(sends(0, 2, TrafficMode::kFlood));
  EXPECT_TRUE(sends(1, 2, TrafficMode::kFlood));
  for (const TrafficMode mode : {TrafficMode::kPut, TrafficMode::kGet, TrafficMode::kAm,
                                 TrafficMode::kPingpong, TrafficMode::kTxonly}) {
    EXPECT_TRUE(sends(0, 2, mode));
    EXPECT_FALSE(sends(1, 2, mode));
  }
  EXPECT_FALSE(sends(0, 2, TrafficMode::kRxonly));
  EXPECT_TRUE(sends(1, 2, TrafficMode::kRxonly));
}

}  // namespace
}  // namespace pinwire::flood
