// Buckets over the verbs driver on a fake network that notices what real devices forgive by luck:
// keys of memory that is pinned no more, and bounds.
#include "pin/buckets.h"

#include <sys/mman.h>

#include <thread>

#include "tests/unit/verbs/two_hosts.h"

namespace pinwire {
namespace {

using Answer = Buckets::Answer;

/// Rank 1 owns 16 buckets of 64 KiB, of which its peer holds 2 and it uses 2 at once.
class OwnBuckets : public TwoHosts {
 protected:
  static constexpr uint64_t kBucketBytes = 64 << 10;
  static constexpr uint64_t kBytes = 16 * kBucketBytes;

  OwnBuckets() {
    void* base = mmap(nullptr, kBytes + kBucketBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped_ = base;
    const auto at = reinterpret_cast<uint64_t>(base);
    base_ = reinterpret_cast<std::byte*>((at + kBucketBytes - 1) / kBucketBytes * kBucketBytes);
    connect();
    buckets_.open(at1(), {16, 2, 2, 2, 3 * kBucketBytes}, 2, reinterpret_cast<uint64_t>(base_),
                  kBytes);
  }
  ~OwnBuckets() override {
    for (auto& driver : drivers_) driver->close();
    munmap(mapped_, kBytes + kBucketBytes);
  }

  Driver& at1() { return at(1); }
  uint64_t number_of(uint64_t bucket) const {
    return (reinterpret_cast<uint64_t>(base_) >> 16) + bucket;
  }
  Buckets::Granted grant(uint64_t bucket, uint32_t gives_back = Buckets::kNone) {
    Buckets::Granted granted;
    EXPECT_EQ(buckets_.grant(0, number_of(bucket), gives_back, granted), Answer::kGranted);
    return granted;
  }
  /// A put of rank 0 under a key of rank 1's.
  WorkStatus put_under(uint32_t key, std::byte* to, uint64_t bytes) {
    Work work = put(memory_[0].data(), bytes, regions_[0].local_key);
    work.remote = reinterpret_cast<uint64_t>(to);
    work.remote_key = key;
    done_.clear();
    EXPECT_EQ(at(0).post(0, {&work, 1}), 1u);
    turn_until([&] { return !done_.empty(); });
    return done_.empty() ? WorkStatus::kUnreachable : done_[0].status;
  }

  Buckets buckets_;
  void* mapped_ = nullptr;
  std::byte* base_ = nullptr;
};

TEST_F(OwnBuckets, AGrantedBucketIsReachedWholeAndNoFurther) {
  const auto granted = grant(3);
  EXPECT_EQ(granted.from, 0u);
  EXPECT_EQ(granted.to, kBucketBytes);
  memory_[0][0] = std::byte{42};
  EXPECT_EQ(put_under(granted.key, base_ + 3 * kBucketBytes, 1000), WorkStatus::kOk);
  EXPECT_EQ(base_[3 * kBucketBytes], std::byte{42});
  EXPECT_EQ(put_under(granted.key, base_ + 4 * kBucketBytes - 500, 1000),
            WorkStatus::kRemoteAccess);
}

TEST_F(OwnBuckets, WhatWasGivenBackIsUnpinnedWhenItsRoomIsNeeded) {
  uint32_t given_back = Buckets::kNone;
  const uint32_t first_key = grant(0).key;
  grant(1);
  EXPECT_EQ(put_under(first_key, base_, 1000), WorkStatus::kOk);
  for (uint64_t bucket = 2; bucket < 6; ++bucket) {
    // Indices are handed out from 0: the first two grants have 0 and 1.
    given_back = bucket == 2 ? 0 : given_back;
    given_back = grant(bucket, given_back).index;
  }
  EXPECT_EQ(buckets_.counters().bytes, 4 * kBucketBytes);
  EXPECT_EQ(buckets_.counters().bytes_max, 4 * kBucketBytes) << "never more than the shares";
  EXPECT_EQ(put_under(first_key, base_, 1000), WorkStatus::kRemoteAccess);
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
}

TEST_F(OwnBuckets, ADeviceThatHasNoMoreGetsBackWhatIsIdle) {
  buckets_.done(buckets_.use(base_, true).index);
  fabric_.fail(fake_verbs::Call::kRegMr, ENOMEM);
  EXPECT_NE(grant(1).index, Buckets::kNone);
  EXPECT_EQ(buckets_.counters().refusals, 1u);
  EXPECT_EQ(buckets_.counters().unpins, 1u);
}

TEST_F(OwnBuckets, WithNothingIdleThePeerIsRefusedAndTheOwnerSaysSoOnce) {
  fabric_.fail(fake_verbs::Call::kRegMr, ENOMEM, 1, 2);
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
  EXPECT_EQ(buckets_.pin_alone(base_, 2 * kBucketBytes).region.bytes, 0u);
  EXPECT_EQ(put_under(one.region.remote_key, base_ + 100, 1000), WorkStatus::kOk);
  buckets_.unpin_alone(one);
  EXPECT_EQ(put_under(one.region.remote_key, base_ + 100, 1000), WorkStatus::kRemoteAccess);
}

}  // namespace
}  // namespace pinwire
