// Small operations share frames, and a frame waits for them for a while.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

class NicCollect : public testing::Test {
 protected:
  NicCollect() { group_.clock().set_step(0); }
  void post(int puts) {
    for (int i = 0; i < puts; ++i) {
      ASSERT_TRUE(group_.post(0, put_work(1, &source_, 8, &target_, region_.remote_key)));
    }
  }
  /// Rank 0 polls each microsecond.
  void pass(int microseconds) {
    for (int i = 0; i < microseconds; ++i) {
      group_.clock().advance(1'000);
      group_.poll(0);
    }
  }
  uint32_t waiting() { return group_.port(1).waiting(); }

  NicGroup group_{{}};
  uint64_t source_ = 5, target_ = 0;
  Region region_ = group_.pin(1, &target_, sizeof target_);
};

TEST_F(NicCollect, TheFirstGoesAtOnceAndThoseBehindItShareAFrame) {
  post(8);
  EXPECT_EQ(waiting(), 1u);
  group_.poll(0);
  EXPECT_EQ(waiting(), 2u);
  group_.run(3);
  EXPECT_EQ(group_.dones(0).size(), 8u);
}

/// While the peer has not acknowledged many frames yet, a frame collects for five microseconds.
TEST_F(NicCollect, BehindManyAFrameCollectsForFiveMicroseconds) {
  for (int i = 0; i < 6; ++i) {
    post(1);
    pass(6);
  }
  const uint32_t before = waiting();
  post(1);
  pass(4);
  EXPECT_EQ(waiting(), before);
  post(1);
  pass(1);
  EXPECT_EQ(waiting(), before + 1);
}

}  // namespace
}  // namespace pinwire
