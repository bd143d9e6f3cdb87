// A gap in what a peer has acknowledged, while the peer stops: it may not have looked since. The
// frames in the gap are repeated once by time; after that the peer is asked, as for any other frame
// that is late.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"
#include "tests/unit/nicfw/nic_words.h"

namespace pinwire {
namespace {

constexpr uint64_t kStepNs = 1'000;

class NicGaps : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(send());
      ASSERT_EQ(group_.run(4, 1, kStepNs).size(), 1u);
    }
  }
  bool send() { return group_.post(0, send_work(1, MessageClass::kReply, &kWord, 8)); }
  /// Rank 0 polls, rank 1 does not.
  void stop_rank_1(uint64_t ns) {
    for (uint64_t at = 0; at < ns; at += kStepNs) {
      group_.poll(0);
      group_.clock().advance(kStepNs);
    }
  }
  /// Three frames, of which rank 1 gets the last only, and tells so before it stops.
  void leave_gap() {
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(send());
    ASSERT_EQ(group_.port(1).waiting(), 3u);
    group_.port(1).take_first();
    group_.port(1).take_first();
    ASSERT_EQ(group_.poll(1).size(), 1u);
    group_.poll(1);
  }

  NicGroup group_{{.config = {.coalesce = false}}};
};

TEST_F(NicGaps, APeerThatStopsGetsNoFrameOfAGapMoreThanAFewTimes) {
  leave_gap();
  stop_rank_1(1'000'000'000);
  EXPECT_LE(group_.stat(0, "retransmits"), 4u);
  EXPECT_GT(group_.stat(0, "late_asks"), 5u);
  EXPECT_EQ(group_.run(10, 1, kStepNs).size(), 2u);
  EXPECT_EQ(group_.nic(0).failure(), nullptr);
}

}  // namespace
}  // namespace pinwire
