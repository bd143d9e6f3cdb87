#include <gtest/gtest.h>
#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "gasnet_tools.h"

namespace {

uint64_t monotonic_ns() {
  timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<uint64_t>(at.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(at.tv_nsec);
}

TEST(Clock, TicksNeverRunBackwardsAndAreWithinTheirBounds) {
  gasnett_tick_t last = gasnett_ticks_now();
  EXPECT_GT(last, GASNETT_TICK_MIN);
  for (int i = 0; i < 100'000; ++i) {
    const gasnett_tick_t now = gasnett_ticks_now();
    ASSERT_GE(now, last);
    last = now;
  }
  EXPECT_LT(last, GASNETT_TICK_MAX);
}

/// The pair is read many times: what lies between its two readings is at most a reading long in the
/// best.
TEST(Clock, TicksAreWallTime) {
  gasnett_ticks_to_ns(1);  // measures
  const uint64_t ticks = gasnett_ticks_now(), ns = monotonic_ns();
  gasnett_nsleep(200'000'000);
  double best = 1;
  for (int i = 0; i < 100; ++i) {
    const double told = static_cast<double>(gasnett_ticks_to_ns(gasnett_ticks_now() - ticks));
    const double true_ns = static_cast<double>(monotonic_ns() - ns);
    best = std::min(best, std::abs(told / true_ns - 1));
  }
  EXPECT_LT(best, 0.01);
}

TEST(Clock, ConversionsAgree) {
  const gasnett_tick_t span = 123'456'789'012;
  const double ns = static_cast<double>(gasnett_ticks_to_ns(span));
  EXPECT_NEAR(static_cast<double>(gasnett_ticks_to_us(span)), ns / 1000, 1);
  EXPECT_NEAR(static_cast<double>(gasnett_ticks_to_ns(2 * span)), 2 * ns, 4);
  EXPECT_GT(gasnett_tick_granularityus(), 0);
  EXPECT_GT(gasnett_tick_overheadus(), 0);
  EXPECT_EQ(gasneti_ticks_to_ns(span), gasnett_ticks_to_ns(span));
}

TEST(Clock, SleepsAtLeastThatLong) {
  EXPECT_EQ(gasnett_nsleep(0), 0);
  const uint64_t before = monotonic_ns();
  EXPECT_EQ(gasnett_nsleep(3'000'000), 0);
  EXPECT_GE(monotonic_ns() - before, 3'000'000u);
}

/// How often this process has given its core away to wait.
long waits() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nvcsw;
}

void convert_first() {
  gasnett_nsleep(2'000'000);
  const long before = waits();
  gasnett_ticks_to_ns(1);
  std::exit(waits() == before ? 0 : 1);
}

/// The length of the tick was once measured by ten sleeps of a millisecond, in the midst of
/// whatever the client timed. In a process of its own: it is measured once.
TEST(ClockDeathTest, FirstConversionDoesNotWait) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(convert_first(), testing::ExitedWithCode(0), "");
}

#if defined(__x86_64__)
void with_rate(const char* rate) {
  setenv("GASNET_TSC_RATE", rate, 1);
  std::exit(gasnett_ticks_to_ns(3'000'000) == 1'500'000 ? 0 : 1);
}

/// In processes of their own: the rate is read once.
TEST(ClockDeathTest, RateCanBeGiven) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(with_rate("2000000000"), testing::ExitedWithCode(0), "");
  EXPECT_DEATH(with_rate("fast"), "invalid GASNET_TSC_RATE=\"fast\": expected walltime");
  EXPECT_DEATH(with_rate("12"), "GASNET_TSC_RATE");
}
#endif

}  // namespace
