#include "am/message/tracked.h"

#include "pin/demand.h"
#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

/// Rank 1 of a loop wire pins two buckets for its own transfers at once, and holds one of rank 0's.
class TrackedWork : public testing::Test {
 protected:
  static constexpr uint64_t kBucketBytes = 64 << 10;
  static constexpr uint64_t kCookie = 8;

  TrackedWork() {
    demand_.own.open(group_.nic(1), {16, 2, 2, 2, 3 * kBucketBytes}, 2, base(), sizeof memory_);
    const RemoteCache::Grant grants[] = {{16, 1}, {}};
    demand_.cache.open(grants);
    demands[0] = &demand_;
  }
  ~TrackedWork() override { demands[0] = nullptr; }

  uint64_t base() const { return reinterpret_cast<uint64_t>(memory_); }
  uint32_t use(uint64_t bucket) {
    return demand_.own.use(memory_ + bucket * kBucketBytes, true).index;
  }
  static Tracked* tracked() {
    Tracked* work = take_tracked();
    EXPECT_NE(work, nullptr);
    work->cookie = kCookie;
    return work;
  }

  alignas(kBucketBytes) std::byte memory_[8 * kBucketBytes] = {};
  NicGroup group_{{}};
  Demand demand_;
};

TEST_F(TrackedWork, GivesItsOwnBucketBack) {
  Tracked* work = tracked();
  work->local = use(0);
  ASSERT_NE(work->local, Buckets::kNone);
  ASSERT_NE(use(1), Buckets::kNone);
  ASSERT_EQ(use(2), Buckets::kNone) << "all are in use";
  EXPECT_EQ(finish_tracked(cookie_of(*work)), kCookie);
  EXPECT_NE(use(2), Buckets::kNone);
}

TEST_F(TrackedWork, GivesTheBucketOfItsPeerBack) {
  Tracked* work = tracked();
  work->remote = demand_.cache.ask(0, 7).index;
  ASSERT_NE(work->remote, RemoteCache::kNone);
  RemoteCache::Told told;
  told.to = 1;
  told.owners_index = 0;
  told.key = 1000;
  ASSERT_TRUE(demand_.cache.grant(0, work->remote, told));
  ASSERT_EQ(demand_.cache.ask(0, 8).index, RemoteCache::kNone) << "all are in use";
  EXPECT_EQ(finish_tracked(cookie_of(*work)), kCookie);
  EXPECT_NE(demand_.cache.ask(0, 8).index, RemoteCache::kNone);
}

TEST_F(TrackedWork, GivesItsRecordBack) {
  std::vector<Tracked*> all;
  while (Tracked* work = take_tracked()) all.push_back(work);
  ASSERT_GE(all.size(), 1'000u);
  finish_tracked(cookie_of(*all.back()));
  all.back() = take_tracked();
  EXPECT_NE(all.back(), nullptr);
  for (const Tracked* work : all) finish_tracked(cookie_of(*work));
}

TEST_F(TrackedWork, IsNoLongerCounted) {
  std::atomic<uint32_t> count = 2;
  Tracked* work = tracked();
  work->counted = &count;
  EXPECT_EQ(finish_tracked(cookie_of(*work)), kCookie);
  EXPECT_EQ(count, 1u);
}

/// The pieces of one transfer have its memory pinned until the last is done.
TEST_F(TrackedWork, GivesThePinOfItsTransferBackWithTheLastPiece) {
  AlonePin* pin = take_alone_pin();
  ASSERT_NE(pin, nullptr);
  pin->pinned = demand_.own.pin_alone(memory_, 100);
  ASSERT_NE(pin->pinned.region.bytes, 0u);
  pin->driver = 0;
  pin->pieces = 2;
  Tracked* pieces[] = {tracked(), tracked()};
  for (Tracked* piece : pieces) piece->alone = pin;
  finish_tracked(cookie_of(*pieces[0]));
  EXPECT_NE(demand_.own.counters().bytes, 0u);
  finish_tracked(cookie_of(*pieces[1]));
  EXPECT_EQ(demand_.own.counters().bytes, 0u);
}

}  // namespace
}  // namespace pinwire
