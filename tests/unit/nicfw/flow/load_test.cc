#include "nicfw/flow/load.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

TEST(Load, IsLowUntilTwoPeriodsCarryMuch) {
  Load load;
  uint64_t now = Load::kPeriodNs;
  load.poll(now);
  load.add(Load::kLowBytes);
  EXPECT_TRUE(load.is_low());
  load.poll(now += Load::kPeriodNs - 1);
  load.add(1);
  EXPECT_FALSE(load.is_low());
  load.poll(now += 1);
  EXPECT_FALSE(load.is_low()) << "in the period before";
  load.poll(now += Load::kPeriodNs);
  EXPECT_TRUE(load.is_low());
  load.add(Load::kLowBytes / 2);
  load.poll(now += Load::kPeriodNs);
  load.add(Load::kLowBytes / 2);
  EXPECT_TRUE(load.is_low());
  load.add(1);
  EXPECT_FALSE(load.is_low()) << "both together";
}

}  // namespace
}  // namespace pinwire
