// A device reaches the memory of its own rank: atomics that are coherent with each other alone.
#include "tests/unit/driver/verbs/two_hosts.h"

namespace pinwire {
namespace {

class Self : public TwoHosts {
 protected:
  /// Adds to the first word of rank 0's memory.
  Work add(uint64_t* old) {
    Work work{};
    work.op = Op::kFetchOp;
    work.cls = MessageClass::kRequest;
    work.peer = 0;
    work.cookie = ++cookie_;
    work.head = &kOne;
    work.head_bytes = sizeof kOne;
    work.local = old;
    work.bytes = sizeof *old;
    work.remote = regions_[0].base;
    work.remote_key = regions_[0].remote_key;
    return work;
  }
  void post_all(Rank from, uint64_t* old, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i) {
      const Work work = add(&old[i]);
      turn_until([&] { return at(from).post(0, {&work, 1}) == 1; });
    }
  }

  static constexpr AtomicOperands kOne{AtomicCode::kAdd, 1, 0};
};

TEST_F(Self, IsReachedWithoutAGreeting) {
  open();
  ASSERT_TRUE(at(0).caps().reaches_self);
  ASSERT_TRUE(at(0).connect(0, at(0).address()).ok());
  uint64_t old = 77;
  const Work work = add(&old);
  EXPECT_EQ(at(0).post(0, {&work, 1}), 0u) << "the connection is made on first use";
  post_all(0, &old, 1);
  turn_until([&] { return done_.size() == 1; });
  EXPECT_EQ(done_[0].status, WorkStatus::kOk);
  EXPECT_EQ(old, 0u);
  EXPECT_EQ(*reinterpret_cast<uint64_t*>(memory_[0].data()), 1u);
  EXPECT_EQ(stat(0, "greetings_sent"), 0u);
  EXPECT_EQ(stat(0, "connections_made"), 2u);
  EXPECT_EQ(stat(0, "atomics_posted"), 1u);
}

TEST_F(Self, WhatItAndAPeerAddIsAllThere_GX_157) {
  constexpr uint32_t kRounds = 300;
  open();
  ASSERT_TRUE(at(0).connect(0, at(0).address()).ok());
  std::vector<uint64_t> seen(2 * kRounds, ~uint64_t{0});
  for (uint32_t i = 0; i < kRounds; ++i) {
    post_all(0, &seen[2 * i], 1);
    post_all(1, &seen[2 * i + 1], 1);
  }
  turn_until([&] { return done_.size() == 2 * kRounds; });
  std::sort(seen.begin(), seen.end());
  for (uint32_t i = 0; i < 2 * kRounds; ++i) ASSERT_EQ(seen[i], i) << "each count once";
}

TEST_F(Self, ADeviceWithoutDatagramsDoesNotReachIt) {
  fabric_.deny_datagrams("left");
  fabric_.deny_datagrams("right");
  open();
  EXPECT_FALSE(at(0).caps().reaches_self);
  EXPECT_DEATH((void)at(0).connect(0, at(0).address()), "twice|does not reach its own rank");
}

}  // namespace
}  // namespace pinwire
