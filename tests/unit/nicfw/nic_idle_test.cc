// A thread asks idle() of a lane whether it should poll.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

TEST(NicIdle, AnEmptyPollMakesALaneIdle) {
  NicGroup group({});
  group.poll(1);
  EXPECT_TRUE(group.nic(1).idle(0));
}

/// A peer is served by polls alone: whoever polls must not stop while the peer goes on.
TEST(NicIdle, APollThatServedAPeerLeavesALaneBusyUntilOneFindsNothing) {
  NicGroup group({});
  const uint64_t source = 5;
  uint64_t target = 0;
  const Region region = group.pin(1, &target, sizeof target);
  group.poll(1);
  ASSERT_TRUE(group.post(0, put_work(1, &source, 8, &target, region.remote_key)));
  group.poll(1);
  EXPECT_EQ(target, source);
  EXPECT_FALSE(group.nic(1).idle(0));
  group.poll(1);
  EXPECT_TRUE(group.nic(1).idle(0));
}

TEST(NicIdle, APollThatHandedOutAMessageLeavesALaneBusyUntilOneFindsNothing) {
  NicGroup group({});
  const uint64_t word = 5;
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  EXPECT_EQ(group.poll(1), std::vector<uint64_t>{word});
  EXPECT_FALSE(group.nic(1).idle(0));
  group.poll(1);
  EXPECT_TRUE(group.nic(1).idle(0));
}

/// Such a port wakes no lane, so that no thread must hear that a lane is polled again.
TEST(NicIdle, APortThatArmsNothingHasNothingToTakeBack) {
  NicGroup group({});
  group.poll(0);
  EXPECT_FALSE(group.nic(0).disarm(0));
}

/// A request that a poll for replies leaves where it is.
TEST(NicIdle, AMessageThatWaitsKeepsALaneBusy) {
  NicGroup group({});
  const uint64_t word = 5;
  ASSERT_TRUE(group.post(0, send_work(1, MessageClass::kRequest, &word, 8)));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(group.poll(1, RecvFilter::kRepliesOnly).empty());
    EXPECT_FALSE(group.nic(1).idle(0)) << "poll " << i;
  }
}

}  // namespace
}  // namespace pinwire
