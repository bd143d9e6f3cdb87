#include "nicfw/flow/rto.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

constexpr RtoLimits kLimits{20'000, 50'000'000};

TEST(Rto, BeforeAnySample) {
  const RttEstimate rtt;
  EXPECT_FALSE(rtt.known());
  EXPECT_EQ(rtt.rto_ns(kLimits), RttEstimate::kFirstRtoNs);
}

TEST(Rto, FollowsRfc6298) {
  RttEstimate rtt;
  rtt.sample(100'000);  // SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR
  EXPECT_EQ(rtt.smoothed_ns(), 100'000u);
  EXPECT_EQ(rtt.rto_ns(kLimits), 300'000u);
  rtt.sample(180'000);  // RTTVAR = 3/4 50000 + 1/4 80000 = 57500; SRTT = 7/8 100000 + 1/8 180000
  EXPECT_EQ(rtt.smoothed_ns(), 110'000u);
  EXPECT_EQ(rtt.rto_ns(kLimits), 110'000u + 4 * 57'500u);
}

TEST(Rto, StaysWithinItsLimits) {
  RttEstimate rtt;
  for (int i = 0; i < 100; ++i) rtt.sample(1'000);
  EXPECT_EQ(rtt.rto_ns(kLimits), kLimits.min_ns);
  for (int i = 0; i < 1000; ++i) rtt.sample(~uint64_t{0});
  EXPECT_EQ(rtt.rto_ns(kLimits), kLimits.max_ns);
}

/// Queues come and go: a few hundred long samples hardly change what the path was seen to take.
TEST(Rto, TheLeastOutlastsAQueue) {
  RttEstimate rtt;
  for (int i = 0; i < 100; ++i) rtt.sample(10'000);
  for (int i = 0; i < 100; ++i) rtt.sample(60'000);
  EXPECT_LT(rtt.least_ns(), 15'000u);
  rtt.sample(9'000);
  EXPECT_EQ(rtt.least_ns(), 9'000u);
}

/// A path that has become twenty times slower: frames are not taken for late by its old time.
TEST(Rto, TheLeastFollowsASlowerPath) {
  RttEstimate rtt;
  for (int i = 0; i < 100; ++i) rtt.sample(10'000);
  for (int i = 0; i < 300; ++i) rtt.sample(200'000);
  EXPECT_EQ(rtt.overtaken_ns(), rtt.smoothed_ns());
  for (int i = 0; i < 20'000; ++i) rtt.sample(200'000);
  EXPECT_GT(rtt.least_ns(), 190'000u);
  EXPECT_LE(rtt.least_ns(), 200'000u);
}

/// A sample that may be too short does not make the least longer, either.
TEST(Rto, UnsureSamplesDoNotMoveTheLeast) {
  RttEstimate rtt;
  rtt.sample(10'000);
  for (int i = 0; i < 1'000; ++i) rtt.sample(200'000, false);
  EXPECT_EQ(rtt.least_ns(), 10'000u);
}

/// A frame that was posted long before the poll that stamps it seems to come back too early.
TEST(Rto, SamplesThatMayBeTooShortLowerNoBound) {
  RttEstimate rtt;
  rtt.sample(8'000, false);
  EXPECT_EQ(rtt.least_ns(), 4'000u);
  RttEstimate other = rtt;
  other.sample(2'000, false);
  EXPECT_EQ(other.least_ns(), other.smoothed_ns() / 2) << "none was sure so far";
  rtt.sample(100'000);
  EXPECT_EQ(rtt.least_ns(), 66'000u);  // as much as one sample may add at once
  rtt.sample(1'000, false);
  EXPECT_EQ(rtt.least_ns(), 66'000u);
  EXPECT_FALSE(rtt.is_answer(6'000));
}

TEST(Rto, IsAQuarterLongerThanTheLongestWaitLately) {
  RttEstimate rtt;
  rtt.sample(10'000);
  rtt.waited(800'000);
  EXPECT_EQ(rtt.rto_ns(kLimits), 1'000'000u);
  rtt.waited(0);
  EXPECT_EQ(rtt.rto_ns(kLimits), 875'000u) << "it fades";
}

/// Where round trips vary much, the least tells how late a frame may be.
TEST(Rto, WhatIsOvertakenIsLateAfterEightLeastRoundTrips) {
  RttEstimate rtt;
  rtt.sample(10'000);
  EXPECT_EQ(rtt.overtaken_ns(), 10'000u);
  for (int i = 0; i < 30; ++i) rtt.sample(1'000'000);
  EXPECT_LT(rtt.least_ns(), 20'000u);
  EXPECT_EQ(rtt.overtaken_ns(), 8 * rtt.least_ns() + 50'000u);
  EXPECT_LT(rtt.overtaken_ns(), rtt.smoothed_ns());
}

TEST(Rto, ARoundTripTakesANanosecondAtLeast) {
  RttEstimate rtt;
  for (int i = 0; i < 3; ++i) {
    rtt.sample(0);
    EXPECT_EQ(rtt.least_ns(), 1u);
    EXPECT_EQ(rtt.smoothed_ns(), 1u);
  }
}

TEST(Rto, BacksOffExponentiallyWithJitter) {
  RttEstimate rtt;
  rtt.sample(100'000);
  Random random(1);
  const uint64_t base = rtt.rto_ns(kLimits);
  EXPECT_EQ(rtt.backed_off_ns(kLimits, 0, random), base);
  for (uint32_t timeouts = 1; timeouts < 40; ++timeouts) {
    const uint64_t plain = std::min(base << std::min(timeouts, 20u), kLimits.max_ns);
    bool differs = false;
    for (int i = 0; i < 20; ++i) {
      const uint64_t waits = rtt.backed_off_ns(kLimits, timeouts, random);
      EXPECT_GE(waits, plain);
      EXPECT_LE(waits, plain + plain / 8);
      differs |= waits != plain;
    }
    EXPECT_TRUE(differs);
  }
}

}  // namespace
}  // namespace pinwire
