// Buckets over the verbs driver on a fake network that notices what real devices forgive by luck:
// keys of memory that is pinned no more, and bounds.
#include <sys/mman.h>

#include "pin/buckets.h"
#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

using Answer = Buckets::Answer;

/// Rank 1 owns 16 buckets of 64 KiB, of which its peer holds 2 and it uses 2 at once.
class ReachedBuckets : public TwoHosts {
 protected:
  static constexpr uint64_t kBucketBytes = 64 << 10;
  static constexpr uint64_t kBytes = 16 * kBucketBytes;

  ReachedBuckets() {
    void* base = mmap(nullptr, kBytes + kBucketBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mapped_ = base;
    const auto at = reinterpret_cast<uint64_t>(base);
    base_ = reinterpret_cast<std::byte*>((at + kBucketBytes - 1) / kBucketBytes * kBucketBytes);
    connect();
    buckets_.open(at1(), {16, 2, 2, 2, 3 * kBucketBytes}, 2, reinterpret_cast<uint64_t>(base_),
                  kBytes);
  }
  ~ReachedBuckets() override {
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

TEST_F(ReachedBuckets, AGrantedBucketIsReachedWholeAndNoFurther) {
  const auto granted = grant(3);
  EXPECT_EQ(granted.from, 0u);
  EXPECT_EQ(granted.to, kBucketBytes);
  memory_[0][0] = std::byte{42};
  EXPECT_EQ(put_under(granted.key, base_ + 3 * kBucketBytes, 1000), WorkStatus::kOk);
  EXPECT_EQ(base_[3 * kBucketBytes], std::byte{42});
  EXPECT_EQ(put_under(granted.key, base_ + 4 * kBucketBytes - 500, 1000),
            WorkStatus::kRemoteAccess);
}

TEST_F(ReachedBuckets, WhatWasGivenBackIsUnpinnedWhenItsRoomIsNeeded) {
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

TEST_F(ReachedBuckets, MemoryIsPinnedForOneTransferWithinTheBudget) {
  const auto one = buckets_.pin_alone(base_ + 100, 2 * kBucketBytes);
  EXPECT_EQ(one.region.bytes, 2 * kBucketBytes);
  EXPECT_EQ(buckets_.pin_alone(base_, 2 * kBucketBytes).region.bytes, 0u);
  EXPECT_EQ(put_under(one.region.remote_key, base_ + 100, 1000), WorkStatus::kOk);
  buckets_.unpin_alone(one);
  EXPECT_EQ(put_under(one.region.remote_key, base_ + 100, 1000), WorkStatus::kRemoteAccess);
}

}  // namespace
}  // namespace pinwire
