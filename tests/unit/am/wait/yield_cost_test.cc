#include "am/wait/yield_cost.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

constexpr uint64_t kSlow = YieldCost::kSlowUs, kFast = YieldCost::kSlowUs - 1;
constexpr uint32_t kSlowYields = YieldCost::kScoreMax / YieldCost::kSlowStep;

void make_high(YieldCost& cost) {
  for (uint32_t i = 1; i < kSlowYields; ++i) EXPECT_FALSE(cost.add(kSlow)) << i;
  EXPECT_TRUE(cost.add(kSlow));
  EXPECT_TRUE(cost.is_high());
}

TEST(YieldCost, IsHighAfterManySlowYields) {
  YieldCost cost;
  make_high(cost);
  EXPECT_FALSE(cost.add(kSlow)) << "no change";
}

TEST(YieldCost, ASlowOneNowAndThenIsNoMatter) {
  YieldCost cost;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(cost.add(kSlow));
    for (uint32_t fast = 0; fast < YieldCost::kSlowStep; ++fast) EXPECT_FALSE(cost.add(kFast));
  }
}

TEST(YieldCost, IsLowAgainAfterFastTrials) {
  YieldCost cost;
  make_high(cost);
  for (uint32_t i = 1; i < kSlowYields; ++i) EXPECT_FALSE(cost.add(kFast));
  EXPECT_FALSE(cost.add(kSlow)) << "begins anew";
  for (uint32_t i = 1; i < kSlowYields; ++i) EXPECT_FALSE(cost.add(kFast));
  EXPECT_TRUE(cost.add(kFast));
  EXPECT_FALSE(cost.is_high());
}

TEST(YieldCost, OneSleepOfManyIsATrial) {
  YieldCost cost;
  uint32_t trials = 0;
  for (uint32_t i = 0; i < 10 * YieldCost::kSleepsPerTrial; ++i) trials += cost.wants_trial();
  EXPECT_EQ(trials, 10u);
}

TEST(YieldCost, IsLowAfterReset) {
  YieldCost cost;
  make_high(cost);
  cost.reset();
  EXPECT_FALSE(cost.is_high());
  make_high(cost);
}

}  // namespace
}  // namespace pinwire
