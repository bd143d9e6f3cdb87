// A small operation that was refused gets the next frame of the window, before copied puts.
#include <gtest/gtest.h>

#include "tests/support/nic_group.h"

namespace pinwire {
namespace {

class NicSmallWaits : public testing::Test {
 protected:
  /// Copied puts and small ones, until none is accepted.
  void fill() {
    while (post(kCopiedBytes)) {
    }
    while (post(8)) {
    }
    ASSERT_FALSE(post(kCopiedBytes));
  }
  bool post(uint64_t bytes) {
    Work work = put_work(1, source_.data(), bytes, target_.data(), region_.remote_key);
    work.flags = kWorkCopied;
    return group_.post(0, work);
  }
  /// All that is built arrives, and is acknowledged.
  void make_room() {
    group_.poll(0);
    group_.poll(1);
    group_.poll(0);
  }

  static constexpr uint64_t kCopiedBytes = 6'000;
  NicGroup group_{
      {.config = {.window_frames = 16, .coalesce = false}, .memory_medium = {true, true}}};
  std::vector<uint8_t> source_ = byte_pattern(kCopiedBytes);
  std::vector<uint8_t> target_ = std::vector<uint8_t>(kCopiedBytes);
  Region region_ = group_.pin(1, target_.data(), target_.size());
};

TEST_F(NicSmallWaits, ACopiedPutWaitsForASmallOneThatWasRefused) {
  fill();
  make_room();
  EXPECT_FALSE(post(kCopiedBytes));
  EXPECT_TRUE(post(8));
  EXPECT_TRUE(post(kCopiedBytes));
}

TEST_F(NicSmallWaits, ButNotForOneThatDoesNotComeAgain) {
  fill();
  make_room();
  int refused = 0;
  for (; !post(kCopiedBytes) && refused < 8; ++refused) group_.poll(0);
  EXPECT_GT(refused, 0);
  EXPECT_LT(refused, 8);
}

}  // namespace
}  // namespace pinwire
