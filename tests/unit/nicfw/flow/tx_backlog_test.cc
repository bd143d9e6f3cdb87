#include "nicfw/flow/tx_backlog.h"

#include <gtest/gtest.h>

namespace pinwire {
namespace {

constexpr uint64_t k100Gb = 100'000'000'000;
constexpr uint32_t kFrame = 1226;  ///< 1,250 on the wire: 100 ns

/// As after many polls, `gap_ns` apart.
TxBacklog polled(uint64_t gap_ns, uint64_t bits_per_s = k100Gb, uint32_t frame_bytes_max = kFrame) {
  TxBacklog backlog;
  backlog.start(bits_per_s, frame_bytes_max);
  for (int i = 0; i < 200; ++i) backlog.passed(gap_ns);
  return backlog;
}

TEST(TxBacklog, OnlyFramesLongerThanSmallOnesAskForRoom) {
  EXPECT_FALSE(TxBacklog::asks(TxBacklog::kSmallBytesMax));
  EXPECT_TRUE(TxBacklog::asks(TxBacklog::kSmallBytesMax + 1));
}

TEST(TxBacklog, ForgetsAPauseInAMillisecond) {
  TxBacklog backlog = polled(10);
  backlog.passed(50'000);
  EXPECT_EQ(backlog.frames_left(kFrame), 1'000u);
  for (int i = 0; i < 1'000; ++i) backlog.passed(1'000);
  EXPECT_EQ(backlog.frames_left(kFrame), polled(1'000).frames_left(kFrame));
}

TEST(TxBacklog, HoldsAMicrosecond) {
  TxBacklog backlog = polled(10);
  EXPECT_EQ(backlog.frames_left(kFrame), 10u);
  for (int i = 0; i < 9; ++i) backlog.add(kFrame);
  EXPECT_EQ(backlog.frames_left(kFrame), 1u);
  backlog.add(kFrame / 2);
  EXPECT_EQ(backlog.frames_left(kFrame), 1u) << "what is begun is sent whole";
  backlog.add(kFrame);
  EXPECT_FALSE(backlog.has_room());
  EXPECT_EQ(backlog.frames_left(kFrame), 0u);
}

TEST(TxBacklog, EmptiesAsTheLinkCarries) {
  TxBacklog backlog = polled(10);
  for (int i = 0; i < 10; ++i) backlog.add(kFrame);
  EXPECT_FALSE(backlog.has_room());
  backlog.passed(299);
  EXPECT_EQ(backlog.frames_left(kFrame), 3u);
  backlog.passed(100'000);
  EXPECT_GE(backlog.frames_left(kFrame), 10u);
}

TEST(TxBacklog, WhatWasTakenBackWasNeverThere) {
  TxBacklog backlog = polled(10);
  for (int i = 0; i < 10; ++i) backlog.add(kFrame);
  backlog.take_back(kFrame);
  EXPECT_EQ(backlog.frames_left(kFrame), 1u);
}

TEST(TxBacklog, HoldsTwoOfTheLongestFrames) {
  EXPECT_EQ(polled(10, k100Gb, 12'476).frames_left(12'476), 2u);
  EXPECT_EQ(polled(10, k100Gb / 100).frames_left(kFrame), 2u) << "at 1 Gb/s";
}

TEST(TxBacklog, HoldsTwoGapsBetweenPolls) {
  EXPECT_EQ(polled(700).frames_left(kFrame), 14u);
  EXPECT_EQ(polled(100'000).frames_left(kFrame), 2'000u);
}

TEST(TxBacklog, AGapFades) {
  TxBacklog backlog = polled(10);
  backlog.passed(5'000);
  EXPECT_EQ(backlog.frames_left(kFrame), 100u);
  for (uint64_t ns = 0; ns < TxBacklog::kFadeNs / 10; ns += 10) backlog.passed(10);
  EXPECT_GT(backlog.frames_left(kFrame), 80u) << "not by how often it polls, but with time";
  for (uint64_t ns = 0; ns < 10 * TxBacklog::kFadeNs; ns += 10) backlog.passed(10);
  EXPECT_EQ(backlog.frames_left(kFrame), 10u);
}

TEST(TxBacklog, ForgetsWhatALongPauseCarried) {
  TxBacklog backlog = polled(10);
  for (int i = 0; i < 1'000; ++i) backlog.add(kFrame);
  backlog.passed(100'000);
  for (uint64_t ns = 0; ns < 10 * TxBacklog::kFadeNs; ns += 10) backlog.passed(10);
  EXPECT_EQ(backlog.frames_left(kFrame), 10u);
}

TEST(TxBacklog, SmallFramesLeaveLongOnesHalf) {
  constexpr uint32_t kSmall = 101;  // 125 on the wire: 10 ns
  TxBacklog backlog = polled(10);
  for (int i = 0; i < 10'000; ++i) backlog.add(kSmall);
  EXPECT_EQ(backlog.frames_left(kFrame), 5u);
  for (int i = 0; i < 5; ++i) backlog.add(kFrame);
  EXPECT_FALSE(backlog.has_room());
  backlog.passed(400);
  EXPECT_EQ(backlog.frames_left(kFrame), 2u) << "half of what the link carried";
  backlog.take_back(kSmall);
  EXPECT_EQ(backlog.frames_left(kFrame), 2u);
}

TEST(TxBacklog, ShortFramesHaveHalfOfTheRoomForThemselves) {
  constexpr uint32_t kLongFrame = 2'476, kShort = TxBacklog::kShortBytesMax;
  TxBacklog backlog = polled(10, k100Gb, kLongFrame);
  EXPECT_EQ(backlog.shorts_left(), 5u);
  for (int i = 0; i < 5; ++i) backlog.add(kLongFrame);
  EXPECT_FALSE(backlog.has_room());
  EXPECT_FALSE(backlog.has_room_for(kLongFrame));
  for (uint32_t left = 5; left > 0; --left) {
    EXPECT_EQ(backlog.shorts_left(), left);
    EXPECT_TRUE(backlog.has_room_for(kShort));
    EXPECT_FALSE(backlog.has_room_for(kShort + 1));
    backlog.add(kShort);
  }
  EXPECT_EQ(backlog.shorts_left(), 0u);
  EXPECT_FALSE(backlog.has_room_for(kShort));
  backlog.take_back(kShort);
  EXPECT_EQ(backlog.shorts_left(), 1u);
}

TEST(TxBacklog, WhereLongFramesAreShortTheyAskForRoom) {
  TxBacklog backlog = polled(10, k100Gb, kFrame);
  for (int i = 0; i < 10; ++i) backlog.add(kFrame);
  EXPECT_FALSE(backlog.has_room_for(kFrame));
  EXPECT_TRUE(backlog.has_room_for(TxBacklog::kSmallBytesMax)) << "which is not asked";
}

TEST(TxBacklog, OfUnknownSpeedThereIsRoomAlways) {
  TxBacklog backlog = polled(10, 0);
  for (int i = 0; i < 1'000; ++i) backlog.add(9'000);
  EXPECT_TRUE(backlog.has_room());
  EXPECT_EQ(backlog.frames_left(9'000), TxBacklog::kNoLimit);
  EXPECT_EQ(backlog.shorts_left(), 0u) << "they take turns";
}

}  // namespace
}  // namespace pinwire
