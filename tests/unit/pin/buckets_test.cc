// Buckets, and pins for single transfers, over a driver that keeps a book of its pins.
#include "pin/buckets.h"

#include <gtest/gtest.h>

#include <thread>

#include "tests/unit/pin/pin_book.h"

namespace pinwire {
namespace {

using Answer = Buckets::Answer;

/// 16 buckets of 64 KiB, of which a peer holds 2 and own transfers use 2 at once. Nobody touches
/// the memory.
class OwnBuckets : public testing::Test {
 protected:
  static constexpr uint64_t kBucketBytes = 64 << 10;
  static constexpr uint64_t kBytes = 16 * kBucketBytes;

  OwnBuckets() {
    buckets_.open(driver_, {16, 2, 2, 2, 3 * kBucketBytes}, 2, reinterpret_cast<uint64_t>(base_),
                  kBytes);
  }

  uint64_t number_of(uint64_t bucket) const {
    return (reinterpret_cast<uint64_t>(base_) >> 16) + bucket;
  }
  Buckets::Granted grant(uint64_t bucket, uint32_t gives_back = Buckets::kNone) {
    Buckets::Granted granted;
    EXPECT_EQ(buckets_.grant(0, number_of(bucket), gives_back, granted), Answer::kGranted);
    return granted;
  }

  std::byte* const base_ = reinterpret_cast<std::byte*>(uint64_t{1} << 32);
  test::PinBook driver_;
  Buckets buckets_;
};

TEST_F(OwnBuckets, APeerIsGrantedAWholeBucketUntilItsRoomIsNeeded) {
  const auto first = grant(0);
  EXPECT_EQ(first.from, 0u);
  EXPECT_EQ(first.to, kBucketBytes);
  EXPECT_TRUE(driver_.reaches(first.key, base_, kBucketBytes));
  uint32_t held = grant(1).index;
  EXPECT_EQ(buckets_.counters().bytes, 2 * kBucketBytes);
  held = grant(2, first.index).index;
  held = grant(3, held).index;
  EXPECT_TRUE(driver_.reaches(first.key, base_, kBucketBytes)) << "there is room";
  held = grant(4, held).index;
  EXPECT_FALSE(driver_.reaches(first.key, base_, 1));
  EXPECT_EQ(grant(4, held).index, held) << "it is pinned, and held anew";
  const PinCounters after = buckets_.counters();
  EXPECT_EQ(after.pins, 5u);
  EXPECT_EQ(after.unpins, 1u);
  EXPECT_EQ(after.bytes, 4 * kBucketBytes);
  EXPECT_EQ(after.bytes_max, 4 * kBucketBytes) << "never more than the shares";
  EXPECT_EQ(driver_.bytes(), after.bytes);
}

/// Memory that begins and ends within buckets.
TEST_F(OwnBuckets, OfABucketAtAnEndOfTheMemoryThatPartIsPinned) {
  Buckets part;
  part.open(driver_, {16, 2, 2, 2, 0}, 2, reinterpret_cast<uint64_t>(base_) + 4096,
            2 * kBucketBytes);
  Buckets::Granted granted;
  ASSERT_EQ(part.grant(0, number_of(0), Buckets::kNone, granted), Answer::kGranted);
  EXPECT_EQ(granted.from, 4096u);
  EXPECT_EQ(granted.to, kBucketBytes);
  ASSERT_EQ(part.grant(0, number_of(2), Buckets::kNone, granted), Answer::kGranted);
  EXPECT_EQ(granted.from, 0u);
  EXPECT_EQ(granted.to, 4096u);
  EXPECT_FALSE(part.covers(base_ + 4095));
  EXPECT_TRUE(part.covers(base_ + 4096));
  EXPECT_TRUE(part.covers(base_ + 4096 + 2 * kBucketBytes - 1));
  EXPECT_FALSE(part.covers(base_ + 4096 + 2 * kBucketBytes));
}

TEST_F(OwnBuckets, WithoutMemoryForBucketsNoPeerMayAsk) {
  Buckets none;
  none.open(driver_, {16, 2, 2, 2, 0}, 2, 0, 0);
  Buckets::Granted granted;
  EXPECT_EQ(none.grant(0, 0, Buckets::kNone, granted), Answer::kMalformed);
  EXPECT_EQ(none.grant(0, ~uint64_t{0}, Buckets::kNone, granted), Answer::kMalformed);
}

TEST_F(OwnBuckets, OwnTransfersFindWhatPeersHavePinned) {
  const auto granted = grant(5);
  const auto used = buckets_.use(base_ + 5 * kBucketBytes + 100, false);
  EXPECT_EQ(used.index, granted.index);
  EXPECT_EQ(used.end, reinterpret_cast<uint64_t>(base_) + 6 * kBucketBytes);
  EXPECT_EQ(buckets_.use(base_ + 6 * kBucketBytes, false).index, Buckets::kNone);
  const auto pinned = buckets_.use(base_ + 6 * kBucketBytes, true);
  EXPECT_NE(pinned.index, Buckets::kNone);
  EXPECT_EQ(buckets_.use(base_ + 7 * kBucketBytes, true).index, Buckets::kNone)
      << "its half is used";
  buckets_.done(used.index);
  EXPECT_NE(buckets_.use(base_ + 7 * kBucketBytes, true).index, Buckets::kNone);
  EXPECT_EQ(buckets_.use(base_ + kBytes, true).index, Buckets::kNone) << "outside";
  EXPECT_EQ(buckets_.counters().hits, 1u);
  EXPECT_EQ(buckets_.counters().misses, 2u);
}

TEST_F(OwnBuckets, ADeviceThatHasNoMoreGetsBackWhatIsIdle) {
  buckets_.done(buckets_.use(base_, true).index);
  driver_.refusals = 1;
  EXPECT_NE(grant(1).index, Buckets::kNone);
  EXPECT_EQ(buckets_.counters().refusals, 1u);
  EXPECT_EQ(buckets_.counters().unpins, 1u);
}

TEST_F(OwnBuckets, WithNothingIdleThePeerIsRefusedAndTheOwnerSaysSoOnce) {
  driver_.refusals = 2;
  testing::internal::CaptureStderr();
  Buckets::Granted granted;
  EXPECT_EQ(buckets_.grant(0, number_of(1), Buckets::kNone, granted), Answer::kRefused);
  EXPECT_EQ(buckets_.grant(0, number_of(1), Buckets::kNone, granted), Answer::kRefused);
  const std::string said = testing::internal::GetCapturedStderr();
  const size_t first = said.find("transfers that need more are copied");
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find("transfers that need more are copied", first + 1), std::string::npos) << said;
  EXPECT_NE(grant(1).index, Buckets::kNone);
}

TEST_F(OwnBuckets, WhatNoPeerMayAskForIsMalformed) {
  Buckets::Granted granted;
  EXPECT_EQ(buckets_.grant(0, number_of(16), Buckets::kNone, granted), Answer::kMalformed);
  EXPECT_EQ(buckets_.grant(0, number_of(0) - 1, Buckets::kNone, granted), Answer::kMalformed);
  EXPECT_EQ(buckets_.grant(0, ~uint64_t{0}, Buckets::kNone, granted), Answer::kMalformed);
  EXPECT_EQ(buckets_.grant(0, number_of(0), 7, granted), Answer::kMalformed) << "never held";
  grant(0);
  grant(1);
  EXPECT_EQ(buckets_.grant(0, number_of(2), Buckets::kNone, granted), Answer::kMalformed);
}

/// Handlers of lanes grant, clients use and pin, completions give back: all at once.
TEST_F(OwnBuckets, ThreadsDoNotMeet) {
  constexpr int kTurns = 300;
  std::vector<std::thread> threads;
  threads.emplace_back(
      [&] {  // the only one that grants: its peer's requests are one after the other
        uint32_t held = Buckets::kNone;
        for (int i = 0; i < kTurns; ++i) {
          Buckets::Granted granted;
          EXPECT_EQ(buckets_.grant(0, number_of(static_cast<uint64_t>(i) * 5 % 16), held, granted),
                    Answer::kGranted);
          held = granted.index;
        }
      });
  for (uint64_t thread = 1; thread <= 2; ++thread) {
    threads.emplace_back([&, thread] {
      for (uint64_t i = 0; i < kTurns; ++i) {
        const auto used = buckets_.use(base_ + (i * 7 + thread) % 16 * kBucketBytes, true);
        if (used.index != Buckets::kNone) buckets_.done(used.index);
        const auto alone = buckets_.pin_alone(base_ + i, kBucketBytes);
        if (alone.region.bytes != 0) buckets_.unpin_alone(alone);
        buckets_.count_bounce();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const PinCounters after = buckets_.counters();
  EXPECT_EQ(after.bounces, 2u * kTurns);
  EXPECT_LE(after.bytes_max, 7 * kBucketBytes) << "four buckets and three of single transfers";
  EXPECT_EQ(after.pins - after.unpins, after.bytes / kBucketBytes);
}

TEST_F(OwnBuckets, MemoryIsPinnedForOneTransferWithinTheBudget) {
  const auto one = buckets_.pin_alone(base_ + 100, 2 * kBucketBytes);
  EXPECT_EQ(one.region.bytes, 2 * kBucketBytes);
  EXPECT_TRUE(driver_.reaches(one.region.remote_key, base_ + 100, 2 * kBucketBytes));
  EXPECT_EQ(buckets_.pin_alone(base_, kBucketBytes + 1).region.bytes, 0u);
  const auto rest = buckets_.pin_alone(base_, kBucketBytes);
  EXPECT_EQ(rest.region.bytes, kBucketBytes) << "all of it";
  buckets_.unpin_alone(one);
  EXPECT_EQ(driver_.bytes(), kBucketBytes);
  buckets_.unpin_alone(rest);
  EXPECT_EQ(buckets_.pin_alone(base_, 3 * kBucketBytes + 1).region.bytes, 0u);
  driver_.refusals = 1;
  EXPECT_EQ(buckets_.pin_alone(base_, 3 * kBucketBytes).region.bytes, 0u);
  EXPECT_EQ(buckets_.counters().refusals, 1u);
  EXPECT_EQ(buckets_.pin_alone(base_, 3 * kBucketBytes).region.bytes, 3 * kBucketBytes);
}

}  // namespace
}  // namespace pinwire
