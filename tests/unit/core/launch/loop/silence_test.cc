#include "core/launch/loop/silence.h"

#include <gtest/gtest.h>

namespace pinwire::launch {
namespace {

constexpr int64_t kHourMs = 3'600'000;

TEST(Silence, EndsAtItsLimitWhereverItIsLookedAt) {
  Silence silence(2000);
  silence.heard(1000);
  EXPECT_EQ(silence.next_look_ms(), 1500);
  for (const int64_t now : {1001, 1500, 1900, 2300, 2800, 2999}) {
    EXPECT_FALSE(silence.is_too_long(now)) << now;
    EXPECT_EQ(silence.next_look_ms(), now + 500);
  }
  EXPECT_TRUE(silence.is_too_long(3000));
}

TEST(Silence, AWordEndsIt) {
  Silence silence(2000);
  silence.heard(0);
  for (int64_t now = 500; now < kHourMs; now += 500) {
    if (now % 1500 == 0) silence.heard(now);
    ASSERT_FALSE(silence.is_too_long(now));
  }
}

TEST(Silence, ATimeInWhichTheLauncherStoodStillCountsAsOnePeriod) {
  Silence silence(2000);
  silence.heard(0);
  EXPECT_FALSE(silence.is_too_long(kHourMs));
  EXPECT_FALSE(silence.is_too_long(kHourMs + 500));
  EXPECT_FALSE(silence.is_too_long(kHourMs + 1000));
  EXPECT_FALSE(silence.is_too_long(kHourMs + 1499));
  EXPECT_TRUE(silence.is_too_long(kHourMs + 1500));
}

TEST(Silence, TheShortestLimitHasAPeriod) { EXPECT_EQ(silence_period_ms(1), 1); }

}  // namespace
}  // namespace pinwire::launch
