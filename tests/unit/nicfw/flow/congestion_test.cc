#include "nicfw/flow/congestion.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

constexpr uint32_t kPathFrameBytes = 9014;
constexpr uint64_t kQuickNs = 10'000;
constexpr uint64_t kQueuedNs =
    30'000;  ///< above the target of a large window, below that of one of two frames
constexpr uint64_t kSlowNs = 2'000'000;

CongestionWindow window_of(uint32_t limit, CongestionSignal signal = CongestionSignal::kDelay,
                           uint32_t frame_bytes = kPathFrameBytes) {
  CongestionWindow window;
  window.start(limit, frame_bytes, signal);
  return window;
}

/// `rounds` round trips in which the whole window is acknowledged.
void acknowledge(CongestionWindow& window, uint32_t rounds, uint64_t delay_ns, uint64_t& now_ns) {
  for (uint32_t i = 0; i < rounds; ++i) {
    now_ns += delay_ns;
    const uint32_t frames = window.frames();
    window.on_ack({frames, frames, delay_ns, 0, delay_ns, now_ns});
  }
}

TEST(Congestion, WithoutASignalTheWindowIsTheLimit) {
  CongestionWindow window = window_of(256, CongestionSignal::kNone);
  uint64_t now = 0;
  acknowledge(window, 10, kSlowNs, now);
  window.on_loss(200, kQuickNs, now);
  EXPECT_EQ(window.frames(), 256u);
  EXPECT_FALSE(window.is_controlled());
  EXPECT_FALSE(window.is_below_one());
}

TEST(Congestion, StartsSmallAndDoublesEachRoundTrip) {
  CongestionWindow window = window_of(256);
  EXPECT_EQ(window.frames(), 2u);
  uint64_t now = 0;
  acknowledge(window, 3, kQuickNs, now);
  EXPECT_EQ(window.frames(), 16u);
  acknowledge(window, 10, kQuickNs, now);
  EXPECT_EQ(window.frames(), 256u);
  CongestionWindow small;
  small.start(256, 1514, CongestionSignal::kDelay);
  EXPECT_EQ(small.frames(), 11u) << "as many bytes, not frames";
}

TEST(Congestion, AWindowThatIsNotFilledDoesNotGrow) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  acknowledge(window, 3, kQuickNs, now);
  for (int i = 0; i < 100; ++i) window.on_ack({1, 7, kQuickNs, kQuickNs, now += kQuickNs});
  EXPECT_EQ(window.frames(), 16u);
  window.on_ack({1, 8, kQuickNs, kQuickNs, now += kQuickNs});
  EXPECT_EQ(window.frames(), 17u);
}

TEST(Congestion, DelayShrinksItOncePerRoundTripByHalfAtMostAndDownToOneFrame) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  acknowledge(window, 10, kQuickNs, now);
  window.on_ack({1, 256, kSlowNs, kSlowNs, now += kSlowNs});
  EXPECT_EQ(window.frames(), 128u);
  window.on_ack({1, 255, kSlowNs, kSlowNs, now + kSlowNs - 1});
  EXPECT_EQ(window.frames(), 128u) << "the same round trip";
  acknowledge(window, 7, kSlowNs, now);
  EXPECT_EQ(window.frames(), 1u);
  acknowledge(window, 1, kSlowNs, now);
  EXPECT_EQ(window.frames(), 1u);
  EXPECT_FALSE(window.is_below_one());
}

TEST(Congestion, ALittleDelayShrinksItALittle) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  acknowledge(window, 10, kQuickNs, now);
  window.on_ack({1, 256, kQueuedNs, kQueuedNs, now += kQueuedNs});
  EXPECT_LT(window.frames(), 256u);
  EXPECT_GT(window.frames(), 200u);
}

TEST(Congestion, ASmallWindowHasALargerTarget) {
  CongestionWindow window = window_of(256);
  uint64_t previous_ns = window.target_ns();
  EXPECT_GT(previous_ns, kQueuedNs);
  uint64_t now = 0;
  for (int i = 0; i < 7; ++i) {
    acknowledge(window, 1, kQuickNs, now);
    EXPECT_LE(window.target_ns(), previous_ns) << window.frames();
    previous_ns = window.target_ns();
  }
  EXPECT_EQ(window.target_ns(), CongestionWindow::kTargetNs);
}

TEST(Congestion, GrowsByAnEighthOfASmallWindowAndByAFrameWhileThereIsAQueue) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  acknowledge(window, 9, kSlowNs, now);
  ASSERT_EQ(window.frames(), 1u);
  constexpr uint64_t kBelowTargetNs = 20'000;
  CongestionWindow other = window;
  acknowledge(window, 6, kBelowTargetNs, now);
  EXPECT_EQ(window.frames(), 1u);
  acknowledge(window, 200, kBelowTargetNs, now);
  const uint32_t before = window.frames();
  acknowledge(window, 10, kBelowTargetNs, now);
  EXPECT_GE(window.frames(), before + 9);
  EXPECT_LE(window.frames(), before + 10);
  acknowledge(other, 100, kQuickNs, now);
  EXPECT_EQ(other.frames(), 256u) << "an empty path is taken soon";
}

TEST(Congestion, WhoCannotSeeAQueueGrowsByAFrameForTenMicroseconds) {
  struct Seen {
    uint64_t delay_ns, poll_gap_ns;
  };
  constexpr Seen kUnknown = {0, 0}, kRarely = {1, 2 * kQuickNs}, kBoth = {kQuickNs, 2 * kQuickNs};
  for (const auto [delay_ns, poll_gap_ns] : {kUnknown, kRarely, kBoth}) {
    CongestionWindow window = window_of(256);
    uint64_t now = 0;
    acknowledge(window, 6, kSlowNs, now);
    for (int i = 0; i < 200; ++i) {
      now += kQuickNs;
      const uint32_t frames = window.frames();
      window.on_ack({frames, frames, delay_ns, poll_gap_ns, kQuickNs, now});
      EXPECT_LE(window.frames(), frames + std::max<uint64_t>(1, poll_gap_ns / 10'000)) << delay_ns;
    }
    EXPECT_GE(window.frames(), 100u);
  }
}

TEST(Congestion, LossWithoutDelayCountsOnlyWhereItIsHeavy) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  acknowledge(window, 10, kQuickNs, now);
  for (int i = 0; i < 100; ++i) {
    window.on_loss(2, kQuickNs, now);
    acknowledge(window, 1, kQuickNs, now);
  }
  EXPECT_EQ(window.frames(), 256u);
  window.on_loss(64, kQuickNs, now);
  EXPECT_EQ(window.frames(), 128u);
  window.on_loss(64, kQuickNs, now + 1);
  EXPECT_EQ(window.frames(), 128u) << "the same round trip";
}

TEST(Congestion, HeavyLossWithoutDelayLeavesAFewFrames) {
  for (const uint32_t frame_bytes : {1'514u, kPathFrameBytes}) {
    CongestionWindow window = window_of(64, CongestionSignal::kLoss, frame_bytes);
    uint64_t now = 0;
    for (int i = 0; i < 20; ++i) window.on_loss(32, kQuickNs, now += 2 * kQuickNs);
    EXPECT_EQ(window.frames(), frame_bytes == kPathFrameBytes ? 2u : 5u);
  }
}

TEST(Congestion, LossUnderDelayGoesBelowOneFrameAndIsPaced) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  acknowledge(window, 9, kSlowNs, now);
  ASSERT_EQ(window.frames(), 1u);
  ASSERT_FALSE(window.is_below_one());
  window.on_loss(1, kSlowNs, now += kSlowNs);
  EXPECT_TRUE(window.is_below_one());
  EXPECT_EQ(window.frames(), 1u);
  EXPECT_EQ(window.pace_ns(kQuickNs), 2 * kQuickNs);
  for (int i = 0; i < 20; ++i) window.on_loss(1, kSlowNs, now += kSlowNs);
  EXPECT_EQ(window.pace_ns(kQuickNs), 16 * kQuickNs) << "however much is lost";
  EXPECT_EQ(window.pace_ns(kSlowNs), CongestionWindow::kPaceMaxNs);
  acknowledge(window, 100, kQuickNs, now);
  EXPECT_FALSE(window.is_below_one());
}

TEST(Congestion, APathThatIsSlowByItselfIsFilledAllTheSame) {
  CongestionWindow window = window_of(64);
  uint64_t now = 0;
  acknowledge(window, 400, kSlowNs, now);
  EXPECT_EQ(window.frames(), 64u);
  // Once it is quick again, the target falls back.
  acknowledge(window, 2'000, kQuickNs, now);
  EXPECT_LT(window.target_ns(), 2 * CongestionWindow::kTargetNs);
}

/// Each eighth acknowledgement comes after an absence of the sender, and tells no delay.
TEST(Congestion, APathThatIsSlowIsFilledBySendersThatAreAbsentNowAndThen) {
  CongestionWindow window = window_of(64);
  uint64_t now = 0;
  for (int i = 0; i < 100; ++i) {
    acknowledge(window, 7, kSlowNs, now);
    window.on_ack({1, 1, 0, kSlowNs, kSlowNs, now += kSlowNs});
  }
  EXPECT_EQ(window.frames(), 64u);
}

/// A delay so long that a window of two frames is held by it, and one of one frame is not.
constexpr uint64_t kLongNs = 40'000;
void answer_quietly(CongestionWindow& window, int count, uint64_t delay_ns, uint64_t& now_ns) {
  for (int i = 0; i < count; ++i)
    window.on_ack({1, 1, delay_ns, 0, delay_ns, now_ns += delay_ns, true, delay_ns});
}

TEST(Congestion, APathThatIsLongWhenIdleIsFilled) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  answer_quietly(window, 4, kLongNs, now);
  EXPECT_EQ(window.idle_path_ns(), kLongNs);
  acknowledge(window, 100, kLongNs, now);
  EXPECT_EQ(window.frames(), 256u);
  acknowledge(window, 20, kLongNs + 3 * CongestionWindow::kQueueNs, now);
  EXPECT_LT(window.frames(), 8u) << "the same queue is too long there as on a short path";
}

TEST(Congestion, AQueueIsNotTakenForThePath) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  answer_quietly(window, 3, kLongNs, now);
  acknowledge(window, 100, kLongNs, now);
  EXPECT_EQ(window.idle_path_ns(), 0u);
  EXPECT_LT(window.frames(), 4u);
  window.start(256, kPathFrameBytes, CongestionSignal::kDelay);
  answer_quietly(window, 1, kLongNs, now);
  EXPECT_EQ(window.idle_path_ns(), 0u) << "another peer's";
}

TEST(Congestion, APathThatIsNotKnownIsTakenForTheShortestToAnother) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  const auto answer = [&](uint64_t delay_ns) {
    window.on_ack({1, 1, delay_ns, 0, delay_ns, now += delay_ns, false, delay_ns, kLongNs});
  };
  answer(kSlowNs);
  EXPECT_EQ(window.idle_path_ns(), kLongNs);
  answer(kQuickNs);
  EXPECT_LE(window.idle_path_ns(), kQuickNs);
  answer(kSlowNs);
  EXPECT_LE(window.idle_path_ns(), kQuickNs) << "once it is known";
}

TEST(Congestion, NeitherAFullWindowNorALatePollTellsOfThePath) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  const auto answer = [&](uint32_t in_flight, uint64_t doubt_ns) {
    for (int i = 0; i < 8; ++i) {
      window.on_ack({1, in_flight, kLongNs, 0, kLongNs, now += kLongNs, true, kLongNs + doubt_ns});
    }
  };
  answer(3, 0);
  EXPECT_EQ(window.idle_path_ns(), 0u) << "the queue is its own";
  answer(1, 11'000);
  EXPECT_EQ(window.idle_path_ns(), 0u);
  answer(2, 10'000);
  EXPECT_EQ(window.idle_path_ns(), kLongNs);
}

TEST(Congestion, ThePathIsTheShortestDelayAndFollowsWhenIdle) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  answer_quietly(window, 1, kLongNs, now);
  answer_quietly(window, 3, 2 * kLongNs, now);
  EXPECT_LE(window.idle_path_ns(), kLongNs);
  window.on_ack({1, 1, 1, 0, kLongNs, now += kLongNs, false, kLongNs});
  EXPECT_GT(window.idle_path_ns(), kLongNs - 1'000) << "a poll came late: the delay is a guess";
  window.on_ack({1, 1, kQuickNs, 0, kQuickNs, now += kQuickNs, false, kQuickNs});
  EXPECT_LE(window.idle_path_ns(), kQuickNs) << "no path is longer than what came over it";
  answer_quietly(window, 3, kLongNs, now);
  EXPECT_LE(window.idle_path_ns(), kQuickNs);
  answer_quietly(window, 1, kLongNs, now);
  EXPECT_GT(window.idle_path_ns(), kLongNs - 1'000);
}

TEST(Congestion, WhatASlowPathLosesByItselfIsNotLostInAQueue) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  acknowledge(window, 4'000, kSlowNs, now);
  const uint32_t filled = window.frames();
  ASSERT_GT(filled, 100u);
  for (int i = 0; i < 10; ++i) {
    window.on_loss(2, kSlowNs, now);
    acknowledge(window, 2, kSlowNs, now);
  }
  EXPECT_GE(window.frames(), filled) << "two frames of a hundred";
  window.on_loss(filled, kSlowNs, now);
  acknowledge(window, 10, kSlowNs, now);
  EXPECT_GE(window.frames(), filled / 2) << "it is not taken for a queue from then on either";
}

TEST(Congestion, InsideAHostDelaySaysNothing) {
  CongestionWindow window = window_of(64, CongestionSignal::kLoss);
  uint64_t now = 0;
  acknowledge(window, 10, kSlowNs, now);
  EXPECT_EQ(window.frames(), 64u);
}

TEST(Congestion, AfterAPauseItStartsAnew) {
  CongestionWindow window = window_of(256);
  uint64_t now = 0;
  acknowledge(window, 10, kQuickNs, now);
  window.restart();
  EXPECT_EQ(window.frames(), 2u);
  acknowledge(window, 3, kQuickNs, now);
  EXPECT_EQ(window.frames(), 16u);
}

TEST(Congestion, ASmallLimitIsKept) {
  CongestionWindow window = window_of(1);
  uint64_t now = 0;
  EXPECT_EQ(window.frames(), 1u);
  acknowledge(window, 100, kQuickNs, now);
  EXPECT_EQ(window.frames(), 1u);
}

}  // namespace
}  // namespace pinwire
