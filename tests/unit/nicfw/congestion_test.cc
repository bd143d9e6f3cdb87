#include "nicfw/congestion.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

constexpr uint64_t kQuickNs = 10'000;
constexpr uint64_t kSlowNs = 2'000'000;

TEST(Congestion, AShortPathIsNeverHeldBack) {
  CongestionWindow window;
  window.start(256);
  for (uint64_t now = 0; now < 10'000'000; now += kQuickNs) {
    window.on_ack(16, kQuickNs, kQuickNs, now);
    if (now % 100'000 == 0) window.on_loss(1, 200, kQuickNs, now);  // a damaged frame now and then
    ASSERT_EQ(window.frames(), 256u);
  }
}

TEST(Congestion, DelayShrinksItOncePerRoundTripDownToTheFloor) {
  CongestionWindow window;
  window.start(256);
  uint64_t now = kSlowNs;
  window.on_ack(1, kSlowNs, kQuickNs, now);
  const uint32_t once = window.frames();
  EXPECT_EQ(once, 224u);
  window.on_ack(1, kSlowNs, kQuickNs, now + 1);
  EXPECT_EQ(window.frames(), once);
  for (int i = 0; i < 200; ++i) window.on_ack(1, kSlowNs, kQuickNs, now += 2 * kSlowNs);
  EXPECT_EQ(window.frames(), CongestionWindow::kFloorFrames);
}

TEST(Congestion, GrowsBackWhenTheDelayIsGone) {
  CongestionWindow window;
  window.start(64);
  uint64_t now = kSlowNs;
  for (int i = 0; i < 200; ++i) window.on_ack(1, kSlowNs, kQuickNs, now += 2 * kSlowNs);
  ASSERT_EQ(window.frames(), CongestionWindow::kFloorFrames);
  uint32_t rounds = 0;
  for (; window.frames() < 64 && rounds < 1000; ++rounds) {
    window.on_ack(window.frames(), kQuickNs, kQuickNs, now += kQuickNs);
  }
  EXPECT_LT(rounds, 60u);
}

TEST(Congestion, LossOfALargePartShrinksIt) {
  CongestionWindow window;
  window.start(256);
  window.on_loss(100, 200, kQuickNs, kQuickNs);
  EXPECT_EQ(window.frames(), 192u);
  window.on_loss(100, 200, kQuickNs, kQuickNs + 1);  // the same round trip
  EXPECT_EQ(window.frames(), 192u);
  window.on_repeated_timeout();
  EXPECT_EQ(window.frames(), 96u);
}

TEST(Congestion, ASmallLimitIsItsOwnFloor) {
  CongestionWindow window;
  window.start(2);
  for (int i = 0; i < 10; ++i) window.on_repeated_timeout();
  EXPECT_EQ(window.frames(), 2u);
}

}  // namespace
}  // namespace pinwire
